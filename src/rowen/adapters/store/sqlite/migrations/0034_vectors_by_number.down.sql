CREATE INDEX vectors_by_model ON vectors (model_id, id);
