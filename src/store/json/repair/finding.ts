import type { SectionName } from '../../dump/records.ts';

/**
 * Damage in a data folder, information about the folder (`note`), or a credential that a repair has
 * `revoked`, because a revocation may be among the lost changes.
 */
export interface FolderFinding {
  level: 'damage' | 'note' | 'revoked';
  /**
   * The section of a dump that the lost records belong to, or `changes` for records of the journal.
   * `null`: unknown, or nothing is lost.
   */
  section: SectionName | 'changes' | null;
  /** Name of the file in the data folder. */
  file: string;
  /** Offset in the file in bytes. `null`: the finding concerns the whole file. */
  offset: number | null;
  /** Number of records that a repair cannot restore. `null`: unknown. */
  lost: number | null;
  what: string;
}

type FindingDetails = Partial<Pick<FolderFinding, 'section' | 'offset' | 'lost'>>;

/** Findings in one data folder, in the order in which it is read. */
export class FolderFindings {
  readonly all: FolderFinding[] = [];

  get hasDamage(): boolean {
    return this.all.some(({ level }) => level === 'damage');
  }

  damage(file: string, what: string, details: FindingDetails = {}): void {
    this.#add('damage', file, what, details);
  }

  note(file: string, what: string, details: FindingDetails = {}): void {
    this.#add('note', file, what, details);
  }

  revoked(section: SectionName, what: string): void {
    this.#add('revoked', 'documents', what, { section });
  }

  #add(
    level: FolderFinding['level'],
    file: string,
    what: string,
    { section = null, offset = null, lost = 0 }: FindingDetails,
  ): void {
    this.all.push({ level, section, file, offset, lost, what });
  }
}
