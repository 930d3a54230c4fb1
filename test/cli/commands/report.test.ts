import { expect, it } from 'vitest';
import { impression, item } from '../../support/service/content.ts';
import { startCli } from '../run-cli.ts';

it('signage report impressions prints CSV with the columns of the service', async () => {
  const { service, cli } = await startCli();
  const tv = await service.tv();
  await tv.send('POST', 'events', { body: [impression({ duration: 2.5 }), impression()] });
  const line = 'groupBy=day&by=timestamp';
  const { text } = await service.manage('GET', `/v1/reports/impressions?${line}`, undefined, {
    headers: { accept: 'text/csv' },
  });
  const run = await cli('report impressions --group-by day --by timestamp -o csv');
  expect(run.stdout).toBe(text);
});

it('signage report impressions -o html prints a page without scripts, of hostile names too', async () => {
  const { service, cli } = await startCli();
  const tv = await service.tv();
  const campaign = `<img src=x onerror="alert(1)"> & '</title><script>`;
  const items = [item({ campaign })];
  await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, { items });
  const [{ campaignId }] = (await tv.send('GET', 'playlist')).body.items;
  const client = '</td><style>';
  await service.manage('PUT', `/v1/campaigns/${campaignId}`, { client, bookedPlays: 4 });
  await tv.send('POST', 'events', { body: [impression({ campaignId, duration: 2.5 })] });
  const line = ['report', 'impressions', '--campaign', campaign, '-o', 'html'];
  const { stdout, code } = await cli(line);
  expect(code).toBe(0);
  const tags = [...stdout.matchAll(/<\/?([a-z1]+)/g)].map((match) => match[1]);
  expect(tags.filter((tag) => ['img', 'script', 'link', 'iframe'].includes(tag!))).toEqual([]);
  expect(tags.filter((tag) => tag === 'style' || tag === 'title')).toHaveLength(4);
  expect(stdout).toContain('<bdi>25 % of 4</bdi>');
  expect(stdout).toContain('&#60;/td&#62;&#60;style&#62;');
  expect(stdout).toContain("content=\"default-src 'none';");
});
