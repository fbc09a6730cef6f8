-- The shelves.
CREATE TABLE IF NOT EXISTS shelf (
    id integer PRIMARY KEY
);

create unique index shelf_name on shelf (name);
INSERT INTO shelf VALUES (1);
