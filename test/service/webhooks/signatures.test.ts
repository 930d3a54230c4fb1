import { it } from 'vitest';
import { verifyMessages } from './verify-messages.ts';

it('500 random messages are verified by the package standardwebhooks', async () => {
  await verifyMessages(500);
}, 60_000);
