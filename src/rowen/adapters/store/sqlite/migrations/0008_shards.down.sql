DROP TABLE questions;
DROP TABLE shard_turns;
