import { engineOf } from '../device-info.ts';
import { inTime, isolatesPages } from '../isolation.ts';
import { addElement } from '../pairing/add-element.ts';
import { readRemoteKey } from '../pairing/remote-keys.ts';
import { checkItem, codecs, pageSize } from '../panel-report.ts';
import { readJson, writeJson } from '../recovery/reload.ts';
import { allowsSound, playedCodecs, turnsPictures } from './clips.ts';
import { probeClock, probeNetwork } from './network-probe.ts';
import { probeStorage } from './storage-probe.ts';
import { fill, texts } from './texts.ts';
import { askAboutTurnedClip } from './turned-clip.ts';
import { type Finding, verdict, yesOrNo } from './verdicts.ts';

const rows = [
  'engine',
  'display',
  'videos',
  'pictures',
  'pages',
  'storage',
  'clock',
  'sound',
  'network',
] as const;
type Row = (typeof rows)[number];

const codecNames = { h264: 'H.264', hevc: 'HEVC', vp9: 'VP9', av1: 'AV1' };
const serviceUrl = new URL('.', location.href).href.replace(/\/$/, '');
const pageUrl = `${serviceUrl}/player`;
const appUrl = (document.querySelector('script[src*="player/app."]') as HTMLScriptElement).src;

const root = addElement(document.body, 'main', 'check');
addElement(root, 'h1', '', texts.title);
addElement(root, 'p', 'keys', texts.keys);
const side = addElement(root, 'section', 'side');
const list = addElement(root, 'dl', 'rows');
const cells = new Map<Row, HTMLElement>();
for (const row of rows) {
  addElement(list, 'dt', '', texts[row]);
  cells.set(row, addElement(list, 'dd', '', texts.running));
}
const line = addElement(root, 'p', 'line');
const words = new Map<Row | 'turned', string>();
let selectOther = () => {};

const kept = () => (readJson(localStorage, checkItem) ?? {}) as { turnsVideos?: unknown };

/** Keeps members of the report for the next start of the player. */
function keep(members: object): void {
  const checkedAt = Math.floor(Date.now() / 1000);
  writeJson(localStorage, checkItem, { ...kept(), ...members, checkedAt });
}

/** Puts words into the line to copy. */
function say(what: Row | 'turned', said: string): void {
  words.set(what, said);
  const all = [...rows, 'turned' as const].map((one) => words.get(one)).filter(Boolean);
  line.textContent = `signage ${all.join(' ')} ua="${navigator.userAgent}"`;
}

function show(row: Row, { text, isGood, words: said, report }: Finding): void {
  const cell = cells.get(row) as HTMLElement;
  const [sign, look] = isGood ? [`${texts.yes} `, 'good'] : [`${texts.no} `, 'bad'];
  cell.textContent = isGood === undefined ? text : sign + text;
  cell.className = isGood === undefined ? '' : look;
  say(row, said);
  if (report) keep(report);
}

function describePage(): void {
  const engine = engineOf(navigator.userAgent);
  const build = /app\.([0-9a-f]+)/.exec(appUrl)?.[1] ?? texts.unknown;
  const said = `engine=${engine.replace(' ', '/')} build=${build}`;
  show('engine', { text: fill(texts.engineFound, { engine, build }), words: said });
  const size = pageSize();
  const { width, height, pixelRatio } = size;
  const page = `page=${width}x${height}@${pixelRatio}`;
  show('display', { text: fill(texts.displayFound, size), words: page });
}

async function probeService(): Promise<void> {
  try {
    const { tookMs, ...clock } = await probeClock(pageUrl);
    show('clock', clock);
    await probeNetwork(serviceUrl, tookMs, (finding) => show('network', finding));
  } catch {
    show('clock', { text: new Date().toLocaleString(), words: `time=${new Date().toISOString()}` });
    show('network', { text: texts.unreachable, isGood: false, words: 'rtt=none' });
  }
}

async function probeVideos(): Promise<void> {
  const plays = await playedCodecs(root);
  const lacks = codecs.filter((codec) => !plays.includes(codec));
  const sign = (codec: (typeof codecs)[number]) => (plays.includes(codec) ? texts.yes : texts.no);
  show('videos', {
    text: codecs.map((codec) => `${codecNames[codec]} ${sign(codec)}`).join('   '),
    words: codecs.map((codec) => `${codec}=${yesOrNo(plays.includes(codec))}`).join(' '),
    report: { plays, lacks },
  });
  const { turnsVideos } = kept();
  say('turned', `turned=${typeof turnsVideos === 'boolean' ? yesOrNo(turnsVideos) : 'unanswered'}`);
  selectOther = askAboutTurnedClip(side, plays[0], turnsVideos, (isTurned) => {
    keep({ turnsVideos: isTurned });
    say('turned', `turned=${yesOrNo(isTurned)}`);
  });
}

document.addEventListener('keydown', (event) => {
  const input = readRemoteKey(event);
  if (input?.kind === 'back') {
    event.preventDefault();
    history.replaceState(null, '', location.pathname + location.search);
    location.reload();
  } else if (input?.kind === 'move' && /left|right/.test(input.direction)) selectOther();
});

async function run(): Promise<void> {
  document.documentElement.setAttribute('data-started', '');
  (document.getElementById('panel') as HTMLElement).hidden = true;
  describePage();
  show('storage', await probeStorage(Date.now()));
  void probeService();
  // One after the other: a frame that blocks its thread must not disturb a video.
  show('pages', verdict('pages', 'isolatesPages', await inTime(isolatesPages(appUrl))));
  show('sound', verdict('sound', 'sound', await allowsSound()));
  show('pictures', verdict('pictures', 'turnsPictures', await turnsPictures()));
  await probeVideos();
}
void run();
