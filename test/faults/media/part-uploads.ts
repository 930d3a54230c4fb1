// Clients upload files in parts while the service and clients are killed and the disk is full.
import { execFileSync } from 'node:child_process';
import { readdirSync, statfsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { smallDisk } from '../../support/disk/small-disk.ts';
import { idOf, someFile } from '../../support/service/media.ts';
import { type KilledService, startService } from '../kills/killed-service.ts';

const token = `mak_${'PartLoad'.repeat(4)}`;
const mebibyte = 1024 * 1024;
const partBytes = 256 * 1024;
/** Each file has two parts. */
const fileBytes = partBytes + 1000;
const uploaders = 4;
/** Answers to one upload that is not told to wait. */
const maxAnswers = 100;
/** Longest time of one upload. A busy machine may take a minute for each restart of the service. */
const maxMs = 20 * 60_000;

export interface PartUploads {
  filesEach: number;
  /** Number of uploads that begin, and that nobody goes on with. */
  abandoned: number;
  seed: number;
}

interface Answer {
  status: number;
  received?: number;
  text: string;
}

/** The service on a disk of its own. `disturb` kills it or fills the disk at random moments. */
async function startTopology(disk: string, random: () => number) {
  const data = join(disk, 'data');
  const filler = join(disk, 'filler');
  let service: KilledService = await startService(data, token);
  const { port } = new URL(service.url);
  let isOver = false;
  const counts = { kills: 0, fullDisks: 0 };

  async function disturb(): Promise<void> {
    while (!isOver) {
      await sleep(200 + random() * 1500);
      if (isOver) return;
      if (random() < 0.5) {
        counts.kills++;
        await service.kill();
        service = await startService(data, token, { port: Number(port) });
      } else {
        counts.fullDisks++;
        const { bavail, bsize } = statfsSync(disk);
        const bytes = bavail * bsize - (63 + random()) * mebibyte;
        if (bytes > 0) execFileSync('fallocate', ['-l', String(Math.ceil(bytes)), filler]);
        await sleep(200);
        await rm(filler, { force: true });
      }
    }
  }

  const disturbing = disturb();
  return {
    url: service.url,
    media: join(data, 'media'),
    counts,
    async calm() {
      isOver = true;
      await disturbing;
    },
    stop: () => service.stop(),
  };
}

/** Sends a part, or an empty one at the end. `undefined`: there was no answer. */
async function send(
  url: string,
  file: Buffer,
  offset: number,
  isCut: boolean,
): Promise<Answer | undefined> {
  const leaving = new AbortController();
  const body = file.subarray(offset, offset + partBytes);
  const path = `/v1/media/${idOf(file)}?offset=${offset}&size=${file.length}`;
  const headers = { authorization: `Bearer ${token}` };
  if (isCut) setTimeout(() => leaving.abort(), Math.random() * 30);
  try {
    const { signal } = leaving;
    const answer = await fetch(url + path, { method: 'PUT', headers, body, signal });
    const text = await answer.text();
    return { ...JSON.parse(text), status: answer.status, text };
  } catch {
    return undefined;
  }
}

/** Uploads a file until the service confirms it. Returns what was wrong. */
async function uploadFile(url: string, file: Buffer, random: () => number): Promise<string[]> {
  const wrong: string[] = [];
  let offset = 0;
  let acknowledged = 0;
  const answers: Record<string, number> = {};
  const until = Date.now() + maxMs;
  for (let answered = 0; answered < maxAnswers && Date.now() < until; ) {
    const answer = await send(url, file, offset, random() < 0.1);
    const met = answer ? (JSON.parse(answer.text).detail ?? answer.status) : 'no answer';
    answers[met] = (answers[met] ?? 0) + 1;
    if (answer?.status === 200 || answer?.status === 201) return wrong;
    if (answer && answer.status !== 503) answered++;
    if (!answer) {
      // As a new client does.
      offset = file.length;
      await sleep(100);
    } else if (answer.status === 202 || answer.status === 409) {
      offset = answer.received ?? -1;
      if (offset < acknowledged) wrong.push(`lost ${acknowledged} bytes: ${answer.text}`);
      acknowledged = offset;
    } else if (answer.status === 503) await sleep(100);
    else {
      wrong.push(answer.text);
      offset = file.length;
    }
  }
  return [...wrong, `${idOf(file)} never ended: ${JSON.stringify(answers)}`];
}

/** Files below a folder that uploads leave. */
const left = (media: string): string[] =>
  ['parts', 'incomplete'].flatMap((folder) => {
    try {
      return readdirSync(join(media, folder), { recursive: true }).map(String);
    } catch {
      return [];
    }
  });

/** Runs the uploads, and returns what was wrong and what was left of them after 5 minutes. */
export async function runPartUploads({ filesEach, abandoned, seed }: PartUploads) {
  let state = seed;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
  const bytes = uploaders * filesEach * fileBytes;
  const disk = await smallDisk(`${Math.ceil(bytes / mebibyte) + 64 + 32}m`);
  const topology = await startTopology(disk, random);
  const { url, media, counts } = topology;
  const files = Array.from({ length: uploaders * filesEach }, (_, at) => someFile(at, fileBytes));
  for (let at = 0; at < abandoned; at++)
    await send(url, someFile(1_000_000 + at, fileBytes), 0, false);
  const wrong = await Promise.all(
    Array.from({ length: uploaders }, async (_, at) => {
      const found: string[] = [];
      for (const file of files.slice(at * filesEach, (at + 1) * filesEach))
        found.push(...(await uploadFile(url, file, random)));
      return found;
    }),
  );
  await topology.calm();
  const missing: string[] = [];
  for (const file of files) {
    const answer = await fetch(`${url}/media/${idOf(file)}.svg`);
    if (!Buffer.from(await answer.arrayBuffer()).equals(file)) missing.push(idOf(file));
  }
  const until = Date.now() + 5 * 60_000;
  while (abandoned > 0 && left(media).length > 0 && Date.now() < until) await sleep(1000);
  const places = abandoned > 0 ? left(media) : [];
  await topology.stop();
  return { ...counts, wrong: wrong.flat(), missing, places };
}
