/** Writes the records of one result in one of the forms, page by page. */
export interface Sheet {
  add(records: readonly unknown[]): Promise<void>;
  end(): Promise<void>;
}

/** Makes a sheet that writes each record at once. */
export function eachRecord(write: (record: unknown) => void): Sheet {
  return { add: async (records) => records.forEach(write), end: async () => {} };
}

/** Makes a sheet that writes all records at the end. */
export function allRecords(write: (records: readonly unknown[]) => Promise<void> | void): Sheet {
  const all: unknown[] = [];
  return {
    async add(records) {
      for (const record of records) all.push(record);
    },
    end: async () => write(all),
  };
}
