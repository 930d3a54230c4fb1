/** Reads the members of an `ar` archive by name. */
export function archiveMembers(archive: Buffer): Record<string, Buffer> {
  const members: Record<string, Buffer> = {};
  const field = (at: number, length: number) => archive.toString('latin1', at, at + length).trim();
  if (field(0, 8) !== '!<arch>') throw new Error('No ar archive.');
  for (let at = 8; at < archive.length; ) {
    const size = Number(field(at + 48, 10));
    if (field(at + 58, 1) !== '`') throw new Error(`No header of a member at ${at}.`);
    members[field(at, 16)] = archive.subarray(at + 60, at + 60 + size);
    at += 60 + size + (size % 2);
  }
  return members;
}
