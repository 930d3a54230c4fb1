import { it } from 'vitest';
import { changeNothing } from './checker.ts';

const seed = Number(process.env.MCP_SEED ?? Date.now() % 2 ** 31);

it(`500 generated calls of an assistant change nothing (MCP_SEED=${seed})`, async () => {
  const { plans, refused } = await changeNothing(500, seed);
  console.log(`assistants: 500 calls, ${plans} plans, ${refused} refusals, 0 changes`);
});
