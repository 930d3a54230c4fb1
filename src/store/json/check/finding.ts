/** Something that is wrong in a data folder, or only worth knowing (`note`). */
export interface Finding {
  level: 'damage' | 'note';
  /** Its name in the data folder. */
  file: string;
  /** In bytes; `null` when the file as a whole is meant. */
  offset: number | null;
  what: string;
}

/** What was found in one data folder, in the order in which it was looked at. */
export class Findings {
  readonly all: Finding[] = [];

  get hasDamage(): boolean {
    return this.all.some(({ level }) => level === 'damage');
  }

  damage(file: string, what: string, offset: number | null = null): void {
    this.all.push({ level: 'damage', file, offset, what });
  }

  note(file: string, what: string, offset: number | null = null): void {
    this.all.push({ level: 'note', file, offset, what });
  }
}
