import { beforeAll, describe, expect, it } from 'vitest';
import { manager } from '../../support/service/management.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { files, mediaSite, serveFile } from '../playlist/media/media-site.ts';
import { cliOf } from '../run-cli.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});

/** Runs `signage show` with a URL. Returns the type of the item, and the notes. */
async function shown(url: string, ...words: string[]): Promise<{ type: string; notes: string }> {
  const { id } = await service.screen();
  const { code, stderr } = await cliOf(service, adminToken)(['show', id, url, ...words]);
  expect(code, stderr).toBe(0);
  const { body } = await manager(service).get(`/v1/screens/${id}/playlist`);
  return { type: body.items[0].creativeType, notes: stderr };
}

it('takes the type of a URL without extension from its server, by Content-Type or content', async () => {
  const site = await mediaSite((request, response) => {
    if (request.url === '/old') return void response.writeHead(302, { location: '/png' }).end();
    const isPng = request.url !== '/page';
    const headers = request.url === '/plain' ? { 'content-type': undefined } : {};
    serveFile(isPng ? files.png : files.html, { headers })(request, response);
  });
  for (const [path, type] of [
    ['/png', 'image'],
    ['/plain', 'image'],
    ['/old', 'image'],
    ['/page', 'html'],
  ])
    expect(await shown(`${site.url}${path}`)).toEqual({ type, notes: '' });
  const once = [['GET /png'], ['GET /plain'], ['GET /old', 'GET /png'], ['GET /page']];
  // For the type, and for the examination before it is shown.
  expect(site.requests).toEqual(once.flatMap((some) => [...some, ...some]));
});

it('shows a URL as a page whose server does not say, and names the way out', async () => {
  const site = await mediaSite((_, response) => void response.writeHead(403).end());
  const { type, notes } = await shown(`${site.url}/secret?token=abc`, '--force');
  expect(type).toBe('html');
  expect(notes).toContain('is shown as a page');
  expect(notes).toContain('creativeType');
  expect(notes).not.toContain('abc');
});

it('asks no server for the type of a URL with a known extension', async () => {
  const site = await mediaSite((_, response) => void response.writeHead(500).end());
  expect(await shown(`${site.url}/a.PNG`, '--force')).toEqual({ type: 'image', notes: '' });
  expect(await shown(`${site.url}/menu.html`, '--force')).toEqual({ type: 'html', notes: '' });
  expect(site.requests).toEqual([]);
});

describe('a video whose server', () => {
  it('redirects in a loop ends show', async () => {
    const site = await mediaSite((_, response) => {
      response.writeHead(302, { location: '/loop.mp4' }).end();
    });
    const { id } = await service.screen();
    const url = `${site.url}/loop.mp4`;
    const { code, stderr } = await cliOf(service, adminToken)(['show', id, url]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('give --duration')]);
  });

  it('hangs is given up at Ctrl-C', async () => {
    const site = await mediaSite(() => {});
    const { id } = await service.screen();
    const { code } = await cliOf(service, adminToken)(['show', id, `${site.url}/never.mp4`], {
      during: async (io) => {
        await expect.poll(() => site.requests.length).toBe(1);
        io.signal('SIGINT');
      },
    });
    expect(code).toBe(130);
  });
});
