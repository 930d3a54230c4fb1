/**
 * Returns the bytes of a stream. Returns `undefined`, and closes the stream, as soon as it has more
 * than `maxBytes`. Rejects with the error of the stream.
 */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
