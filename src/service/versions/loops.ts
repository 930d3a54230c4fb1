import type { LoopItem } from '../../domain/planned/rows.ts';
import type { Content } from '../../domain/records/rows.ts';
import { type Reader, readContent, type Tx } from '../../store/store.ts';

type Item = Record<string, unknown>;
const idOf = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : undefined);

/** Returns what coverage needs of the items of a content. */
function loopItems(itemsJson: string): LoopItem[] {
  return (JSON.parse(itemsJson) as Item[]).map(({ creativeId, campaignId, duration }) => {
    const campaign = idOf(campaignId);
    return {
      creativeId: idOf(creativeId) ?? '',
      ...(campaign !== undefined && { campaignId: campaign }),
      duration: Number(duration) || 0,
    };
  });
}

/** Keeps what a past version has shown, when its items are deleted. */
export function keepLoop(tx: Tx, { id, tenantId, items }: Content): Promise<void> {
  return tx.put('loops', { id, tenantId, until: tx.stamp, items: loopItems(items) });
}

/** Returns the items of a content. `undefined`: the store does not know them. */
export async function readLoop(
  reader: Pick<Reader, 'get'>,
  id: string,
): Promise<readonly LoopItem[] | undefined> {
  const content = await readContent(reader, id);
  return content ? loopItems(content.items) : (await reader.get('loops', id))?.items;
}
