const dayLog = /^\d{4}-\d{2}-\d{2}\.ndjson(\.torn-.+)?$|^probe(\.tmp)?$/;

/** Names that the store makes in each of its folders. */
const ownNames: Readonly<Record<string, RegExp>> = {
  documents: /^[a-z]+-.+\.\d+\.json(\.tmp)?$/,
  journal: /^\d{16}-\d{6}\.log(\.torn-.+)?$|^probe(\.tmp)?$/,
  events: dayLog,
  audit: dayLog,
};

/**
 * Whether the store may have made a file. All other names belong to the system, such as
 * `lost+found`, `@eaDir` and `.snapshot`, or to a person: they are left alone.
 *
 * @param folder a folder of a data folder, such as `documents`
 */
export function isOwnFile(folder: string, name: string): boolean {
  return ownNames[folder]?.test(name) ?? false;
}
