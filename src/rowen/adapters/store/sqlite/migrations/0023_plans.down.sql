DROP TABLE planned_answers;
