import type { Child } from 'hono/jsx';
import { compact, percent } from '../texts/words.ts';
import { Table } from './table.tsx';

/** A series of a chart: stacked if it `fill`s, a line if it is a `trace`. */
export type Series = {
  name: string;
  look: `fill-${1 | 2 | 3 | 4 | 5 | 'main' | 'bad'}` | `trace-${'main' | 'soft'}`;
};

/** A column: its name ("14:00", "Nov 18"), and its value of each series; null where there is none. */
export type Column = { name: string; values: (number | null)[]; before?: number | undefined };

const height = 200;
const top = 8;
const plot = 168;

/** Stacked columns before pale ones of an earlier time, or lines; also as titles and a table. */
export const Chart = (props: { summary: string; series: Series[]; columns: Column[] }) => {
  const { summary, series, columns } = props;
  const isLine = series.some(({ look }) => isTrace(look));
  const heightOf = ({ values, before = 0 }: Column) =>
    Math.max(before, isLine ? Math.max(...values.map(Number)) : sum(values));
  const { y, rules } = axisOf(Math.max(1, ...columns.map(heightOf)));
  return (
    <>
      <svg class="chart" width="100%" height={height} role="img" aria-label={summary}>
        <title>{summary}</title>
        {rules.map((value) => (
          <>
            <line class={value === 0 ? 'axis' : 'rule'} x2="100%" y1={y(value)} y2={y(value)} />
            <text class="y" x="-8" y={y(value)}>
              {compact(value)}
            </text>
          </>
        ))}
        {/* A column is 1 wide. */}
        <svg
          viewBox={`0 0 ${columns.length} ${height}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {isLine &&
            series.map(({ look }, at) => (
              <path class={`trace ${look}`} d={lineOf(columns, at, y)} />
            ))}
          {columns.map((column, i) => (
            <g class="bar">
              <title>{titleOf(column, series)}</title>
              {isLine ? (
                <rect class="hit" x={i} width="1" y={top} height={plot} />
              ) : (
                <Stack {...{ column, i, series, y }} />
              )}
            </g>
          ))}
        </svg>
        <Names columns={columns} />
      </svg>
      <details class="as-table">
        <summary>Show as a table</summary>
        <Table
          caption={summary}
          look=""
          items={columns}
          columns={[
            { head: 'Time', cell: ({ name }) => name },
            ...series.map(({ name }, at) => ({
              head: name,
              look: 'num',
              cell: ({ values }: Column) => values[at]?.toLocaleString('en') ?? '–',
            })),
          ]}
        />
      </details>
    </>
  );
};

const isTrace = (look: string): boolean => look.startsWith('trace');
const sum = (values: (number | null)[]): number =>
  values.reduce<number>((total, one) => total + (one ?? 0), 0);
const round = (value: number): number => Math.round(value * 100) / 100;

/** Where values are on an axis from 0 to a round number, and its rules. */
function axisOf(highest: number) {
  const power = 10 ** Math.floor(Math.log10(highest / 3));
  const factor = [1, 2, 5].find((one) => one * power >= highest / 3) ?? 10;
  const step = Math.max(1, factor * power);
  const count = Math.ceil(highest / step);
  return {
    y: (value: number) => round(top + plot * (1 - value / (step * count))),
    rules: Array.from({ length: count + 1 }, (_, i) => i * step),
  };
}

function titleOf({ name, values, before }: Column, series: Series[]): string {
  const parts = series.map(
    (one, at) => `${values[at]?.toLocaleString('en') ?? 'no'} ${one.name.toLowerCase()}`,
  );
  return `${name}: ${parts.join(', ')}${before === undefined ? '' : `; ${before} before`}`;
}

type Y = (value: number) => number;

/** A line through the values, with gaps where there are none. An isolated value is a dash. */
const lineOf = (columns: Column[], at: number, y: Y): string =>
  columns
    .map(({ values: { [at]: value } }, i) => {
      if (value === null || value === undefined) return '';
      const goesOn = typeof columns[i - 1]?.values[at] === 'number';
      return goesOn ? `L${i + 0.5} ${y(value)}` : `M${i + 0.4} ${y(value)}h0.2`;
    })
    .join('');

const Stack = (props: { column: Column; i: number; series: Series[]; y: Y }) => {
  const { i, series, y } = props;
  const { values, before = 0 } = props.column;
  const upTo = (at: number) => y(sum(values.slice(0, at)));
  return (
    <>
      <Part look="before" x={i + 0.02} width={0.96} from={y(0)} to={y(before)} />
      {series.map(({ look }, at) => (
        <Part look={look} x={i + 0.15} width={0.7} from={upTo(at)} to={upTo(at + 1)} />
      ))}
      {before > 0 && <path class="before-top" d={`M${i + 0.02} ${y(before)}h0.96`} />}
    </>
  );
};

const Part = (props: { look: string; x: number; width: number; from: number; to: number }) => {
  const { look, x, width, from, to } = props;
  return from > to ? (
    <rect class={look} x={x} width={width} y={to} height={round(from - to)} />
  ) : null;
};

/** The names of about five columns that fit under a chart, evenly spaced, including the last. */
const Names = ({ columns }: { columns: Column[] }) => {
  const count = columns.length;
  const every = Math.max(1, Math.floor(count / 4));
  return columns.map(({ name }, i) => {
    if ((count - 1 - i) % every > 0) return null;
    const [look, x] =
      i === 0 ? ['x x-first', 0] : i === count - 1 ? ['x x-last', count] : ['x', i + 0.5];
    return (
      <text class={look} x={percent(x / count, 2)} y={height - 4}>
        {name}
      </text>
    );
  });
};

/** Safety events per day, stacked by risk, with the total of each risk and `notes`. */
export const RiskChart = (props: {
  summary: string;
  columns: Column[];
  notes?: string[];
  before?: string;
}) => {
  const { notes = [], before, ...chart } = props;
  const entries = riskSeries.map((series, i) => ({
    ...series,
    total: sum(chart.columns.map(({ values }) => values[i] ?? 0)).toLocaleString('en'),
    note: notes[i],
  }));
  return (
    <>
      <div class="mb-3">
        <Legend entries={entries.reverse()} before={before} />
      </div>
      <Chart {...chart} series={riskSeries} />
    </>
  );
};

const riskSeries = ([1, 2, 3, 4, 5] as const).map(
  (risk): Series => ({ name: `Risk ${risk}`, look: `fill-${risk}` }),
);

/** The meaning of a chart's colours and lines, with totals and notes; `before` names the pale columns. */
export const Legend = (props: {
  entries: (Series & { total?: Child; note?: Child })[];
  before?: string | undefined;
}) => (
  <ul class="legend-row">
    {props.entries.map(({ name, look, total, note }) => (
      <li>
        <svg class={isTrace(look) ? 'swatch swatch-line' : 'swatch'} aria-hidden="true">
          {isTrace(look) ? (
            <line class={`trace ${look}`} x2="20" y1="5" y2="5" />
          ) : (
            <rect class={look} width="10" height="10" rx="2" />
          )}
        </svg>
        {name} {total !== undefined && <b>{total}</b>} {note}
      </li>
    ))}
    {props.before && (
      <li>
        <svg class="swatch swatch-line" viewBox="0 0 20 10" aria-hidden="true">
          <rect class="before" width="20" height="10" />
          <line class="before-top" x2="20" y1="1" y2="1" />
        </svg>
        {props.before}
      </li>
    )}
  </ul>
);

/** Small columns beside a number: successes, and below them failures. */
export const Spark = ({ columns }: { columns: { good: number; bad?: number }[] }) => {
  const highest = Math.max(1, ...columns.map(({ good, bad = 0 }) => good + bad));
  const y = (count: number) => round(24 - (count / highest) * 23);
  return (
    <svg class="spark" viewBox="0 0 96 24" preserveAspectRatio="none" aria-hidden="true">
      <line x2="96" y1="24" y2="24" />
      {columns.map(({ good, bad = 0 }, i) => (
        <>
          <Part look="fill-bad" x={i * 4 + 0.5} width={3} from={24} to={y(bad)} />
          <Part look="fill-main" x={i * 4 + 0.5} width={3} from={y(bad)} to={y(bad + good)} />
        </>
      ))}
    </svg>
  );
};
