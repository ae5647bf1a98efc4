"""Letters to members who are not here, and reports to the operators."""
