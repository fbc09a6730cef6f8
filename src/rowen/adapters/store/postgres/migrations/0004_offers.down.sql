DROP TABLE projections;
DROP TABLE offer_sightings;
DROP TABLE offers;
DROP TABLE companies_merged;
DROP TABLE company_keys;
DROP TABLE companies;
