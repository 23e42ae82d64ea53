import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { linePaths, ticksOf, timeTicksOf, type Point } from './chart-geometry.ts';

const height = 180;
const margin = { top: 8, right: 12, bottom: 24, left: 64 } as const;

/**
 * A graph of a number over time, drawn as SVG in the colours of the page. The pointer shows single values; the table below the graph
 * has the same data for those who cannot see it.
 */
export function Chart({
  points,
  start,
  end,
  maxGap,
  base,
  label,
  value,
  time,
  tick,
}: {
  readonly points: readonly Point[];
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  /** Points further apart than this, in milliseconds, are not joined. */
  readonly maxGap: number;
  /** The base of the units on the scale: 1,000, or 1,024 for bytes. */
  readonly base: 1000 | 1024;
  readonly label: string;
  readonly value: (value: number) => string;
  readonly time: (at: number) => string;
  /** The text of a tick of the time axis. */
  readonly tick: (at: number) => string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(640);
  const [shown, setShown] = useState<Point>();
  useLayoutEffect(() => {
    const element = box.current!;
    const measure = (): void => setWidth(Math.max(200, element.clientWidth));
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  const ticks = ticksOf(Math.max(...points.map((point) => point.value), 1), base);
  const most = ticks[ticks.length - 1]!;
  const inner = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
  const x = (at: number): number => margin.left + ((at - start) / (end - start)) * inner.width;
  const y = (amount: number): number => margin.top + inner.height * (1 - amount / most);
  const runs = linePaths(points, maxGap, x, y);
  const nearest = (event: PointerEvent): void => {
    const { left } = box.current!.getBoundingClientRect();
    const at = start + ((event.clientX - left - margin.left) / inner.width) * (end - start);
    const distance = (point: Point): number => Math.abs(point.at - at);
    setShown(points.reduce((best, point) => (distance(point) < distance(best) ? point : best)));
  };
  return (
    <div ref={box} class="chart" onPointerMove={nearest} onPointerLeave={() => setShown(undefined)}>
      <svg role="img" aria-label={label} width={width} height={height}>
        {ticks.map((amount) => (
          <g key={amount}>
            <line class="chart-grid" x1={margin.left} x2={width - margin.right} y1={y(amount)} y2={y(amount)} />
            <text class="chart-tick" x={margin.left - 8} y={y(amount) + 4} text-anchor="end">
              {value(amount)}
            </text>
          </g>
        ))}
        {timeTicksOf(start, end, Math.max(2, Math.floor(inner.width / 110))).map((at) => (
          <text class="chart-tick" key={at} x={x(at)} y={height - 6} text-anchor="middle">
            {tick(at)}
          </text>
        ))}
        {runs.map(({ line, area }) => (
          <g key={line}>
            <path class="chart-area" d={area} />
            <path class="chart-line" d={line} />
          </g>
        ))}
        {shown && (
          <>
            <line class="chart-cursor" x1={x(shown.at)} x2={x(shown.at)} y1={margin.top} y2={height - margin.bottom} />
            <circle class="chart-dot" cx={x(shown.at)} cy={y(shown.value)} r="4" />
          </>
        )}
      </svg>
      {shown && (
        <div class={x(shown.at) > width / 2 ? 'chart-tip left' : 'chart-tip'} style={{ left: `${x(shown.at)}px` }}>
          <strong>{value(shown.value)}</strong>
          <span>{time(shown.at)}</span>
        </div>
      )}
    </div>
  );
}
