import { type Column, member, type View } from '../../output/view.ts';

/** Makes columns for members of the record. */
export const members = <T>(...names: (keyof T & string)[]): Column<T>[] =>
  names.map((name) => member(name));

/** Makes columns that `-o table` omits in lists. */
export const wideMembers = <T>(...names: (keyof T & string)[]): Column<T>[] =>
  names.map((name) => member(name, { wide: true }));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Makes a view for records of unknown form. The members of the first record become the columns. */
export function anyView(first: unknown): View<unknown> {
  const memberColumn = (name: string): Column<unknown> => ({
    name,
    value: (record) => (isObject(record) && Object.hasOwn(record, name) ? record[name] : undefined),
  });
  const columns = isObject(first)
    ? Object.keys(first).map(memberColumn)
    : [{ name: 'value', value: (record: unknown) => record }];
  return {
    columns,
    nameOf(record) {
      const { name, id } = isObject(record) ? record : {};
      return (
        [name, id].find((one): one is string => typeof one === 'string') ?? JSON.stringify(record)
      );
    },
  };
}
