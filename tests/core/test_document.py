"""What makes one version of an item different from another."""

from __future__ import annotations

from dataclasses import replace

from rowen.core.document import Draft, Validators


def a_draft() -> Draft:
    return Draft(
        reference="a",
        url="https://a.example/",
        title="A",
        text="Rye.",
        validators=Validators(),
        content_type="",
    )


def test_a_draft_made_from_another_one_has_a_payload_hash_of_its_own() -> None:
    draft = a_draft()
    assert draft.payload_hash == a_draft().payload_hash
    assert replace(draft, metadata={"tags": ["grain"]}).payload_hash != draft.payload_hash
    assert replace(draft, depth=3, record=b"{}").payload_hash == draft.payload_hash
