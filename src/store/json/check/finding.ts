/** Damage in a data folder, or information about the folder (`note`). */
export interface FolderFinding {
  level: 'damage' | 'note';
  /** Name of the file in the data folder. */
  file: string;
  /** Offset in the file in bytes. `null`: the finding concerns the whole file. */
  offset: number | null;
  what: string;
}

/** Findings in one data folder, in the order of the checks. */
export class FolderFindings {
  readonly all: FolderFinding[] = [];

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
