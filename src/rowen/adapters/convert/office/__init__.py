"""DOCX, PPTX, XLSX and PDF."""
