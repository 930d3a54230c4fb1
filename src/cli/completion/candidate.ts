/** Something that could stand in the place of the word that is being typed. */
export interface Candidate {
  /** The whole word. One that ends in `/` or `=` is to be typed on. */
  text: string;
  description: string;
}

/** What could come next: candidates, or the names of files, which the shell knows best. */
export type Offer = readonly Candidate[] | 'files';
