import type { HourCount } from '../deliveries/counts.ts';

/** Deliveries that ended in the last 24 hours, hour by hour: delivered ones point up from the line, failed ones down. */
export const Chart = ({ hours }: { hours: HourCount[] }) => {
  const highest = Math.max(1, ...hours.map(({ delivered, failed }) => Math.max(delivered, failed)));
  const total = (kind: keyof HourCount) => hours.reduce((sum, hour) => sum + hour[kind], 0);
  const caption = `Last 24 hours: ${total('delivered')} delivered, ${total('failed')} failed.`;
  return (
    <figure>
      <svg class="chart" viewBox="0 0 240 60" preserveAspectRatio="none" role="img" aria-label={caption}>
        {hours.map(({ delivered, failed }, i) => (
          <>
            <Bar
              class="ok"
              hour={i}
              y={40 - (delivered / highest) * 38}
              height={(delivered / highest) * 38}
            />
            <Bar class="no" hour={i} y={40} height={(failed / highest) * 19} />
          </>
        ))}
        <line class="axis" x1={0} x2={240} y1={40} y2={40} />
      </svg>
      <figcaption>{caption}</figcaption>
    </figure>
  );
};

const Bar = ({ hour, ...shape }: { class: string; hour: number; y: number; height: number }) => (
  <rect x={hour * 10 + 1} width={8} {...shape} />
);
