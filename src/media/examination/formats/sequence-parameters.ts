/** Profiles of H.264 whose parameters name their colour format (ITU H.264, §7.3.2.1.1). */
const withColours = [100, 110, 122, 244, 44, 83, 86, 118, 128];
const maxBytes = 64;

/**
 * Returns whether the first sequence parameters of an avcC record (ISO 14496-15, §5.3.3.1) allow
 * fields. `false` also if they cannot be read.
 */
export function isInterlacedAvc(record: Buffer): boolean {
  const unit = record.toString('latin1', 8, 8 + maxBytes).replaceAll('\0\0\x03', '\0\0');
  const bytes = [...Buffer.from(unit, 'latin1')];
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('');
  let at = 0;
  const take = (count: number) => {
    at += count;
    return Number.parseInt(bits.slice(at - count, at) || '0', 2);
  };
  /** Reads an Exp-Golomb code (§9.1). */
  const golomb = () => {
    const zeros = Math.max(0, bits.indexOf('1', at) - at);
    return take(zeros * 2 + 1) - 1;
  };
  take(8);
  const profile = take(8);
  take(16);
  golomb();
  if (withColours.includes(profile)) {
    if (golomb() === 3) take(1);
    golomb();
    golomb();
    // Scaling lists are long, and rare.
    if ((take(2) & 1) === 1) return false;
  }
  golomb();
  const order = golomb();
  if (order === 1) return false;
  if (order === 0) golomb();
  golomb();
  take(1);
  golomb();
  golomb();
  return bytes.length > 8 && take(1) === 0;
}
