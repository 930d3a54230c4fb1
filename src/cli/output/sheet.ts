/** Where the records of one result go, page after page, in one of the forms. */
export interface Sheet {
  add(records: readonly unknown[]): Promise<void>;
  end(): Promise<void>;
}

/** A sheet that writes each record by itself. */
export function eachRecord(write: (record: unknown) => void): Sheet {
  return { add: async (records) => records.forEach(write), end: async () => {} };
}

/** A sheet that waits for all of them. */
export function allRecords(write: (records: readonly unknown[]) => Promise<void> | void): Sheet {
  const all: unknown[] = [];
  return {
    async add(records) {
      for (const record of records) all.push(record);
    },
    end: async () => write(all),
  };
}
