import type { ReportGroup, ReportRow } from '../../../domain/records/report.ts';
import type { Reader } from '../../api/client.ts';
import { member, type View } from '../../output/view.ts';
import { screenPaths } from '../screen-path.ts';

const columns = [
  member<ReportRow, 'key'>('key'),
  member<ReportRow, 'impressions'>('impressions'),
  member<ReportRow, 'seconds'>('seconds'),
];

async function venueNames(reader: Reader): Promise<Map<string, string>> {
  return new Map((await reader.all('listVenues')).map(({ id, name }) => [id, name]));
}

/** The view of the report. Fetches the names of screens or venues if they are the keys. */
export const impressionView =
  (reader: Reader, groupBy: ReportGroup | undefined) => async (): Promise<View<ReportRow>> => {
    const nameOf = ({ key }: ReportRow) => key;
    if (groupBy !== 'screen' && groupBy !== 'venue') return { columns, nameOf };
    const names = await (groupBy === 'screen' ? screenPaths : venueNames)(reader);
    return { columns: [...columns, { name: 'name', value: ({ key }) => names.get(key) }], nameOf };
  };
