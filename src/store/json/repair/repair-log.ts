/** Something that a repair left out or replaced. */
export interface RepairedItem {
  /** The file's name in the damaged folder. */
  file: string;
  /** Offset in the file in bytes. `null`: the item concerns the whole file. */
  offset: number | null;
  what: string;
  /** Number of lost records. `null`: unknown. */
  lost: number | null;
}

/** Everything that a repair left out or replaced, in order. */
export class RepairLog {
  readonly entries: RepairedItem[] = [];

  add(
    file: string,
    what: string,
    { offset = null, lost = 0 }: Partial<Pick<RepairedItem, 'offset' | 'lost'>> = {},
  ): void {
    this.entries.push({ file, offset, what, lost });
  }
}
