"""Which topic has which method of the store, so that a command imports the topics it asks, and no others."""

from __future__ import annotations

METHODS: dict[str, str] = {
    "access": (
        "add_token tokens token remove_token request_sync request_by_delivery sync_requests sync_request "
        "finish_request"
    ),
    "documents": (
        "known leftovers linked visible_references living metadata record record_hashes references aliases "
        "save_aliases listings save_listing save_inventory retire refresh"
    ),
    "feed": (
        "documents document freshness same_text folders feed feed_end sinks save_sink remove_sink move_sink"
    ),
    "generations": (
        "generations activations activations_since shown_at oldest_seen removed_since activate changes "
        "versions replacements vacuum"
    ),
    "handoffs": (
        "stage revive staged settled start_handoffs put_back_handoffs ingest settle_handoffs retries "
        "due_retries unembedded_in handoffs handoff handoff_counts requeue_handoff cancel_handoff"
    ),
    "leases": "acquire_lease lease leases_like forget_leases renew_lease release_lease",
    "notes": "pause_upstream lift_pause pauses times_ahead note notes notes_like save_note",
    "offers": (
        "projection known_offers orphaned_offers offers_alike save_offers companies company offers_of "
        "set_resolution"
    ),
    "passages": "passage_states save_passages save_vectors embedding_gap unembedded",
    "runs": (
        "begin_run finish_run save_items save_progress close_lost_run runs runs_since run_days problems "
        "run run_items save_share shares forget_tickets"
    ),
    "search": ("search_snapshot follow symbol_words proofs about datasets_alike document_sections _finder"),
    "shards": "ask_pages take_pages pass_batch seize_batch answer_pages take_answers",
    "sources": (
        "add_source remove_source source sources removed_sources document_counts stats set_schedule "
        "set_params change_source set_paused set_pinned"
    ),
    "learning.claims": "claims claims_of save_claims",
    "learning.outcomes": "last_said reference_of",
    "learning.plans": "keep_answers kept_answer forget_answers",
    "learning.rates": "rates_learnt_at checked_pages pages_to_schedule shown add_shown",
}
"""The methods of each topic, by the module of the topic."""

TOPIC_OF = {method: topic for topic, methods in METHODS.items() for method in methods.split()}
