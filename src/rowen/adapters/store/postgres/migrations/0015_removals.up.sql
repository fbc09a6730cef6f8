-- Sources that were removed, numbered among the activations; of each label, the last time.
CREATE TABLE removals (
  id         bigint PRIMARY KEY,
  name       text COLLATE "C" NOT NULL,
  version    text COLLATE "C" NOT NULL,
  kind       text NOT NULL,
  generation bigint NOT NULL,
  at         timestamptz NOT NULL,
  UNIQUE (name, version)
);
