-- A copy into this database that is not finished: what has come so far, as JSON. While there is one, no service starts.
CREATE TABLE signage.copies (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  progress text NOT NULL
);
