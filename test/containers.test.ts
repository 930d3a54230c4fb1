// Checks the files for containers without building them: what the build receives, what the image
// runs, and that names, paths and ports in the manifests exist in the service.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { serveSettings } from '../src/cli/commands/serve/options.ts';
import { type Running, serve } from '../src/serve.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const variables = new Set([
  'NODE_ENV',
  ...Object.values(serveSettings).flatMap(({ env }: { env?: string | undefined }) => env ?? []),
]);

interface Instruction {
  name: string;
  text: string;
}

/** Parses a Dockerfile into its stages: each `FROM` starts one. */
function stagesOf(text: string): Instruction[][] {
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: Instruction[][] = [[]];
  for (const line of lines) {
    const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, text: rest });
  }
  return stages;
}

/** Returns whether the build receives a path. The last line that matches decides. */
function isSent(path: string, ignore: string): boolean {
  let sent = true;
  for (const line of ignore.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
    const pattern = line.replace(/^!/, '');
    if (pattern === '*' || path === pattern || path.startsWith(`${pattern}/`))
      sent = line.startsWith('!');
  }
  return sent;
}

const [, ...stages] = stagesOf(read('docs/deployment/Dockerfile'));
const image = stages.at(-1) ?? [];
const textsOf = (stage: readonly Instruction[], name: string) =>
  stage.filter((one) => one.name === name).map(({ text }) => text);
const copied = stages
  .flatMap((stage) => textsOf(stage, 'COPY'))
  .filter((text) => !text.startsWith('--from='))
  .flatMap((text) => text.split(/\s+/).slice(0, -1));

describe('.dockerignore', () => {
  const ignore = read('.dockerignore');

  it('sends every file that the Dockerfile copies', () => {
    expect(copied).toContain('package-lock.json');
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(copied.filter((path) => !isSent(path, ignore))).toEqual([]);
  });

  it.each([
    'signage-data/secret',
    'signage-data/admin-token',
    'signage.env',
    'database.env',
    'key.pem',
    '.git/config',
    'node_modules/zod/package.json',
    'anything-else',
  ])('keeps %s out of the build', (path) => expect(isSent(path, ignore)).toBe(false));
});

describe('docs/deployment/Dockerfile', () => {
  it('takes the base image and its digest as arguments, and names no digest itself', () => {
    const text = read('docs/deployment/Dockerfile');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the Dockerfile
    const base = '${BASE}${DIGEST:+@$DIGEST}';
    expect(stages.map((stage) => stage[0]?.text.split(' ')[0])).toEqual(stages.map(() => base));
    expect(text).not.toMatch(/sha256:[0-9a-f]/);
  });

  it('installs packages before it copies code, and ships only those of production', () => {
    const installs = stages.filter((stage) =>
      textsOf(stage, 'RUN').some((text) => text.startsWith('npm ci')),
    );
    expect(installs).toHaveLength(2);
    for (const stage of installs) {
      const install = stage.findIndex(({ text }) => text.startsWith('npm ci'));
      const before = textsOf(stage.slice(0, install), 'COPY');
      expect(before).toEqual(['.npmrc package.json package-lock.json ./']);
    }
    expect(textsOf(installs[0] ?? [], 'RUN')).toEqual(['npm ci --omit=dev']);
    expect(textsOf(image, 'COPY').filter((text) => text.includes('node_modules'))).toEqual([
      '--from=dependencies /opt/signage/node_modules ./node_modules',
    ]);
  });

  it('downloads nothing, and sets no secret', () => {
    expect(stages.flatMap((stage) => textsOf(stage, 'ADD'))).toEqual([]);
    const settings = stages.flatMap((stage) => [
      ...textsOf(stage, 'ENV'),
      ...textsOf(stage, 'ARG'),
    ]);
    expect(settings.filter((text) => /TOKEN|PASSWORD|KEY|mak_/.test(text))).toEqual([]);
  });

  it('runs as a numeric user other than root, who owns only the data', () => {
    expect(textsOf(image, 'USER')).toEqual(['1000:1000']);
    expect(image.findLastIndex(({ name }) => name === 'COPY' || name === 'RUN')).toBeLessThan(
      image.findIndex(({ name }) => name === 'USER'),
    );
    expect(textsOf(image, 'COPY').filter((text) => text.includes('--chown'))).toEqual([]);
  });

  it('sets only variables that exist, and starts and checks files that it contains', () => {
    const names = textsOf(image, 'ENV').flatMap((text) =>
      text.split(/\s+/).map((one) => one.split('=')[0] ?? ''),
    );
    expect(names.filter((name) => !variables.has(name))).toEqual([]);
    const sources = textsOf(image, 'COPY').flatMap((text) => text.split(/\s+/).slice(0, -1));
    expect(sources).toEqual(
      expect.arrayContaining(['bin', 'LICENSE', 'docs/deployment/healthcheck.sh']),
    );
    const [check = ''] = textsOf(image, 'HEALTHCHECK');
    expect(check).toMatch(/CMD \["bash", "\/opt\/signage\/healthcheck\.sh"\]$/);
  });

  it('has the licence of the package as a label', () => {
    const { license } = JSON.parse(read('package.json'));
    expect(textsOf(image, 'LABEL').join(' ')).toContain(
      `org.opencontainers.image.licenses="${license}"`,
    );
  });
});

// biome-ignore lint/suspicious/noExplicitAny: documents of many shapes
type Yaml = any;

function documentsOf(path: string): Yaml[] {
  return parseAllDocuments(read(path), { merge: true }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
}

describe.each([
  ['kubernetes.yaml', ['Deployment', 'Service', 'PodDisruptionBudget']],
  ['kubernetes-volume.yaml', ['StatefulSet', 'Service']],
])('docs/deployment/%s', (file, kinds) => {
  const documents = documentsOf(`docs/deployment/${file}`);
  const [workload, service] = documents;
  const pod = workload.spec.template.spec;
  const [container] = pod.containers;
  const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];

  it('selects its own pods everywhere', () => {
    expect(documents.map(({ kind }) => kind)).toEqual(kinds);
    const { labels } = workload.spec.template.metadata;
    expect(workload.spec.selector.matchLabels).toEqual(labels);
    expect(service.spec.selector).toEqual(labels);
    if (documents[2]) expect(documents[2].spec.selector.matchLabels).toEqual(labels);
  });

  it('probes paths that the service answers, on its port', async () => {
    const running = await serve({ port: 0, store: 'memory:' });
    try {
      for (const { httpGet } of probes) {
        expect((await fetch(running.url + httpGet.path)).status, httpGet.path).toBe(200);
        expect(httpGet.port).toBe(container.ports[0].name);
      }
    } finally {
      await running.close();
    }
    expect(container.ports).toEqual([
      { name: 'http', containerPort: Number(textsOf(image, 'EXPOSE')[0]) },
    ]);
    expect(service.spec.ports[0].targetPort).toBe('http');
  });

  it('restarts no instance and removes none because the store is away', () => {
    expect(container.livenessProbe.httpGet.path).toBe('/healthz');
    expect(container.readinessProbe.httpGet.path).toBe('/healthz');
  });

  it('gives the pod no more rights than it needs, as the user of the image', () => {
    expect(`${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}`).toBe(
      textsOf(image, 'USER')[0],
    );
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.automountServiceAccountToken).toBe(false);
  });

  it('sets variables that exist, and takes secrets from a Secret', () => {
    const names = container.env.map(({ name }: { name: string }) => name);
    expect(names.filter((name: string) => !variables.has(name))).toEqual([]);
    expect(names.filter((name: string) => /TOKEN|STORE/.test(name))).toEqual([]);
    expect(container.envFrom).toEqual([{ secretRef: { name: 'signage' } }]);
  });

  it('does not let the Service overwrite SIGNAGE_PORT', () =>
    expect(pod.enableServiceLinks).toBe(false));

  it('mounts volumes that it declares, and leaves time to stop', () => {
    const claims = workload.spec.volumeClaimTemplates ?? [];
    const names = [
      ...pod.volumes.map((one: Yaml) => one.name),
      ...claims.map((one: Yaml) => one.metadata.name),
    ];
    const mounted = container.volumeMounts.map((one: Yaml) => one.name);
    expect([...mounted].sort()).toEqual([...names].sort());
    const preStop = container.lifecycle?.preStop.sleep.seconds ?? 0;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(preStop + 10);
  });
});

describe('docs/deployment/compose.yaml', () => {
  it('builds the Dockerfile, and sets variables that exist', () => {
    const [compose] = documentsOf('docs/deployment/compose.yaml');
    const service = compose['x-signage'];
    expect(existsSync(join(root, service.build.dockerfile))).toBe(true);
    expect(Object.keys(service.environment).filter((name) => !variables.has(name))).toEqual([]);
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(10);
  });
});

describe.skipIf(process.platform === 'win32')('healthcheck.sh (Windows has no bash)', () => {
  const running: Running[] = [];
  const servers: Server[] = [];

  afterEach(async () => {
    for (const one of running.splice(0)) await one.close();
    for (const one of servers.splice(0)) one.close();
  });

  const start = async (options = {}) => {
    const service = await serve({ port: 0, store: 'memory:', ...options });
    running.push(service);
    return new URL(service.url).port;
  };

  /** Starts a server that sends this and nothing else. Returns its port. */
  const saying = (text: string) =>
    new Promise<string>((resolve) => {
      const server = createServer((socket) => {
        socket.on('error', () => {});
        if (text !== '') socket.end(text);
      });
      servers.push(server);
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(String(typeof address === 'object' && address?.port));
      });
    });

  /** Returns the exit code. Without `node`, the script finds no other program. */
  const check = (env: Record<string, string>, node = '/nonexistent') =>
    new Promise<number>((resolve) => {
      const script = join(root, 'docs/deployment/healthcheck.sh');
      const argv = ['-c', 'PATH=$1; source "$0"', script, node];
      const child = execFile('bash', argv, { env: { PATH: process.env.PATH, ...env } });
      child.on('close', (code) => resolve(code ?? -1));
    });
  const node = dirname(process.execPath);

  it.each(['127.0.0.1', '0.0.0.0', '::'])('0 for a service on %s, without Node', async (host) => {
    const port = await start({ host });
    expect(await check({ SIGNAGE_HOST: host, SIGNAGE_PORT: port })).toBe(0);
  });

  it('0 for a service with TLS', async () => {
    const cert = read('test/fixtures/tls/first.cert.pem');
    const key = read('test/fixtures/tls/first.key.pem');
    const port = await start({ tls: { cert, key } });
    expect(await check({ SIGNAGE_PORT: port, SIGNAGE_TLS_CERT: 'cert.pem' }, node)).toBe(0);
    expect(await check({ SIGNAGE_PORT: port }), 'without TLS').toBe(1);
  });

  it.each<Record<string, string>>([{}, { SIGNAGE_TLS_CERT: 'cert.pem' }])(
    '1 when nothing listens: %j',
    async (env) => {
      const port = await saying('');
      for (const one of servers.splice(0)) await new Promise((done) => one.close(done));
      expect(await check({ ...env, SIGNAGE_PORT: port }, node)).toBe(1);
    },
  );

  it.each([
    ['an error', 'HTTP/1.1 503 Service Unavailable\r\n\r\n'],
    ['something else', 'SSH-2.0-OpenSSH\r\n'],
    ['nothing within 4 seconds', ''],
  ])('1 when the answer is %s', async (_, text) => {
    expect(await check({ SIGNAGE_PORT: await saying(text) })).toBe(1);
  });
});
