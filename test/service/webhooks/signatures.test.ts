import { it } from 'vitest';
import { verifyMessages } from './verify-messages.ts';

it('100 random messages are verified by the package standardwebhooks', async () => {
  await verifyMessages(100);
}, 60_000);
