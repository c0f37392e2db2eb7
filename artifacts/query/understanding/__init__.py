"""From what a person types to a query: operators, spelling, synonyms, concepts and vectors."""
