import type { ReportRow } from '../../../domain/records/report.ts';
import { htmlPage, htmlText } from '../../output/html.ts';
import type { Column } from '../../output/view.ts';

/** A report, as `-o html` prints it for a person. */
export interface ReportPage {
  title: string;
  /** What the line below the title says. */
  facts: readonly string[];
  /** One group, or two. */
  groups: readonly string[];
  columns: readonly Column<ReportRow>[];
  rows: readonly ReportRow[];
  /** Sentences about what the report leaves out. */
  notes: readonly string[];
}

const meanings = [
  'Impressions are plays of items of a campaign, plays those of other items. Seconds is how long the impressions played. A play is full if it lasted as long as planned.',
  'Days are those of the place of each screen, unless this page says otherwise. What was booked is compared with all impressions on the booked days, on all screens.',
  'The numbers are what the TVs have reported. They do not prove that a panel was lit, or that somebody watched. They grow if a TV was offline and reports later.',
];

const style = `
@page { size: A4; margin: 15mm }
body { font: 10pt/1.45 system-ui, sans-serif; color: #111; background: #fff; max-width: 180mm; margin: 2em auto; padding: 0 1em }
h1 { font-size: 17pt; line-height: 1.2; margin: 0; overflow-wrap: anywhere }
p, ul { margin: .4em 0 }
table { border-collapse: collapse; width: 100%; margin: 1.5em 0 }
th, td { text-align: left; vertical-align: top; padding: .25em 0 .25em 1em; border-bottom: 1px solid #ccc }
td { overflow-wrap: anywhere }
th:first-child, td:first-child { padding-left: 0 }
th:first-child { width: 30% }
.n { text-align: right; font-variant-numeric: tabular-nums }
td.n, .b { white-space: nowrap }
tr { break-inside: avoid }
tfoot { display: table-row-group; font-weight: bold }
footer { color: #444; font-size: 9pt; break-inside: avoid }
@media print { body { margin: 0; padding: 0; max-width: none } }
`;

const shownText = (value: unknown) =>
  typeof value === 'number' ? value.toLocaleString('en') : String(value ?? '–');

/** Columns whose sum says something. */
const summed = ['impressions', 'seconds', 'fullPlays', 'partialPlays', 'unknownPlays', 'plays'];
/** Columns whose texts break only between two numbers or two days. */
const paired = ['booked', 'bookedDays'];
/** Further columns of the page, which tables omit. */
const further = ['client', 'bookedDays'];

const lookOf = (name: string) =>
  summed.includes(name) ? ' class="n"' : paired.includes(name) ? ' class="b"' : '';

/** Returns a cell of a row, with the text that is for people. */
function cellOf({ name, shown, value }: Column<ReportRow>, row: ReportRow): string {
  const text = htmlText(shownText((shown ?? value)(row)));
  return paired.includes(name) ? text.replaceAll(/, | to /g, '$&<br>') : text;
}

/** Returns a page without scripts and without anything to load, which prints well on A4. */
export function reportPage({ title, facts, groups, columns, rows, notes }: ReportPage): string {
  const shown = columns.filter(({ name, wide }) => !wide || further.includes(name));
  const ordered = [
    ...shown.filter(({ name }) => name === 'name'),
    ...shown.filter(({ name }) => name !== 'name'),
  ];
  const header = ({ name }: Column<ReportRow>) => {
    if (/^(?:key|name)2?$/.test(name)) return groups[name.endsWith('2') ? 1 : 0] ?? name;
    return name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  };
  const line = (tag: 'th' | 'td', textOf: (column: Column<ReportRow>) => string) =>
    `<tr>${ordered
      .map((one) => `<${tag}${lookOf(one.name)}>${textOf(one)}</${tag}>`)
      .join('')}</tr>`;
  const lines = rows.map((row) => line('td', (column) => cellOf(column, row)));
  const total = line('td', (column) => {
    if (!summed.includes(column.name)) return column === ordered[0] ? 'Total' : '';
    const sum = rows.reduce((sum, row) => sum + Number(column.value(row)), 0);
    return shownText(Math.round(sum * 10) / 10);
  });
  const body = `<h1>${htmlText(title)}</h1>
<p>${facts.map(htmlText).join(' · ')}</p>
<table>
<thead>${line('th', (column) => htmlText(header(column)))}</thead>
<tbody>
${lines.join('\n') || `<tr><td colspan="${ordered.length}">Nothing was played.</td></tr>`}
</tbody>
<tfoot>${total}</tfoot>
</table>
<footer>
<strong>What the numbers mean</strong>
<ul>
${[...meanings, ...notes].map((one) => `<li>${htmlText(one)}</li>`).join('\n')}
</ul>
</footer>`;
  return htmlPage(title, style, body);
}
