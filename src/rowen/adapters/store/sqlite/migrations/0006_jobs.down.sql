DROP TABLE run_shares;
DROP TABLE jobs;
