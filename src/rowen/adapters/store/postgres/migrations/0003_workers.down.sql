DROP TABLE run_shares;
