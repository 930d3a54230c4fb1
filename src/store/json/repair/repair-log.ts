/** Something that a repair left out or made up for. */
export interface Mended {
  /** The file's name in the damaged folder. */
  file: string;
  /** In bytes; `null` when the file as a whole is meant. */
  offset: number | null;
  what: string;
  /** Records that are lost; `null` when nothing tells how many. */
  lost: number | null;
}

/** What was done to a folder's files, in their order. */
export class RepairLog {
  readonly entries: Mended[] = [];

  add(
    file: string,
    what: string,
    { offset = null, lost = 0 }: Partial<Pick<Mended, 'offset' | 'lost'>> = {},
  ): void {
    this.entries.push({ file, offset, what, lost });
  }
}
