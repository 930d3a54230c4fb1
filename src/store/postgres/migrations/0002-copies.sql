-- The progress of an unfinished copy into this database, as JSON. While the table has a row, no
-- service starts.
CREATE TABLE signage.copies (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  progress text NOT NULL
);
