/** Writes the records of one result in one output format, page by page. */
export interface RecordWriter {
  add(records: readonly unknown[]): Promise<void>;
  end(): Promise<void>;
}

/** Makes a writer that writes each record at once. */
export function eachRecord(write: (record: unknown) => void): RecordWriter {
  return { add: async (records) => records.forEach(write), end: async () => {} };
}

/** Makes a writer that writes all records at the end. */
export function allRecords(
  write: (records: readonly unknown[]) => Promise<void> | void,
): RecordWriter {
  const all: unknown[] = [];
  return {
    async add(records) {
      for (const record of records) all.push(record);
    },
    end: async () => write(all),
  };
}
