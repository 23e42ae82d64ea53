import { useState } from 'preact/hooks';
import { MonitoringError } from './monitoring-error.tsx';
import { MonitoringSwitch } from './monitoring-switch.tsx';
import { periodFor, presets, type Preset, type Range } from './periods.ts';
import { curlCommand } from '../../format/commands.ts';
import { localTime } from '../../format/local-time.ts';
import { locale, minute, number, size, t } from '../../messages/messages.ts';
import {
  getMetricData,
  getMonitoring,
  isInBytes,
  statistics,
  type Metric,
  type MetricData,
  type Statistic,
} from '../../s3/monitoring.ts';
import { config, session } from '../../session/session.ts';
import { Chart } from '../../ui/chart.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { useLoaded } from '../../ui/loaded.ts';
import { named, Select } from '../../ui/select.tsx';
import { TimeField } from '../../ui/text-field.tsx';

/** The history of a bucket's size and number of objects, and their current values. */
export function MonitoringSection({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = t.value.monitoring;
  const [preset, setPreset] = useState<Preset | 'custom'>('day');
  const [statistic, setStatistic] = useState<Statistic>('Average');
  const [until, setUntil] = useState(() => Date.now());
  const [from, setFrom] = useState(() => localTime(until - presets.day));
  const [to, setTo] = useState(() => localTime(until));
  const range: Range =
    preset === 'custom'
      ? { start: Date.parse(from), end: Date.parse(to) }
      : { start: until - presets[preset], end: until };
  const isRange = range.start < range.end;
  const period = isRange ? periodFor(range, until) : 300;
  const asked = { statistic, period, ...range };
  const loaded = useLoaded(async () => {
    if (!isRange) return undefined;
    const [isOn, bytes, objects] = await Promise.all([
      getMonitoring(client, bucket),
      getMetricData(client, bucket, { metric: 'BucketSizeBytes', ...asked }),
      getMetricData(client, bucket, { metric: 'NumberOfObjects', ...asked }),
    ]);
    return { isOn, bytes, objects };
  }, [client, bucket, statistic, range.start, range.end]);
  const view = loaded.value;
  if (loaded.error !== undefined) return <MonitoringError error={loaded.error} retry={loaded.reload} />;
  const refresh = (): void => {
    setUntil(Date.now());
    loaded.reload();
  };
  return (
    <div class="stack">
      <p class="muted">{texts.hint}</p>
      {view && <MonitoringSwitch bucket={bucket} isOn={view.isOn} onChanged={refresh} />}
      <div class="figures">
        <Figure name={texts.sizeNow} shown={view && size(view.bytes.current.value)} />
        <Figure name={texts.countNow} shown={view && number(view.objects.current.value)} />
      </div>
      <div class="chart-bar">
        <Select
          label={texts.period}
          value={preset}
          options={[
            ['hours3', texts.hours(3)],
            ['day', texts.hours(24)],
            ['week', texts.days(7)],
            ['month', texts.days(30)],
            ['year', texts.year],
            ['custom', texts.custom],
          ]}
          onInput={(chosen) => {
            setPreset(chosen);
            setUntil(Date.now());
          }}
        />
        {preset === 'custom' && (
          <>
            <TimeField label={texts.from} value={from} onInput={setFrom} />
            <TimeField label={texts.to} value={to} onInput={setTo} />
          </>
        )}
        <Select
          label={texts.statistic}
          value={statistic}
          options={named(statistics, texts.statistics)}
          onInput={setStatistic}
        />
      </div>
      {!isRange && <p class="hint bad">{texts.rangeBad}</p>}
      {view && (
        <>
          <Graph metric="BucketSizeBytes" data={view.bytes} range={range} period={period} statistic={statistic} />
          <Graph metric="NumberOfObjects" data={view.objects} range={range} period={period} statistic={statistic} />
        </>
      )}
      {isRange && <CommandLine command={commandOf(bucket, asked)} label="curl" />}
    </div>
  );
}

function commandOf(
  bucket: string,
  { statistic, period, start, end }: Range & { readonly statistic: string; readonly period: number },
): string {
  return curlCommand(config.value!, {
    method: 'GET',
    bucket,
    query: {
      'metric-data': '',
      metric: 'BucketSizeBytes',
      statistic,
      period: String(period),
      start: new Date(start).toISOString(),
      end: new Date(end).toISOString(),
    },
  });
}

function Figure({ name, shown }: { readonly name: string; readonly shown: string | undefined }) {
  return (
    <div class="figure">
      <div class="muted small">{name}</div>
      <div class="figure-value">{shown ?? <div class="skeleton" />}</div>
    </div>
  );
}

function Graph({
  metric,
  data,
  range,
  period,
  statistic,
}: {
  readonly metric: Metric;
  readonly data: MetricData;
  readonly range: Range;
  readonly period: number;
  readonly statistic: Statistic;
}) {
  const texts = t.value.monitoring;
  const name = metric === 'BucketSizeBytes' ? texts.size : texts.count;
  const isBytes = isInBytes({ metric, statistic });
  const shown = isBytes ? size : number;
  const { datapoints } = data;
  const values = datapoints.map((point) => point.value);
  return (
    <section class="stack tight" aria-label={name}>
      <h2>
        {name} <span class="muted h2-note">{texts.statistics[statistic]}</span>
      </h2>
      {datapoints.length === 0 ? (
        <p class="chart-empty muted">{texts.noData}</p>
      ) : (
        <>
          <Chart
            points={datapoints}
            {...range}
            maxGap={period * 1_500}
            base={isBytes ? 1024 : 1000}
            label={texts.summary(name, shown(Math.min(...values)), shown(Math.max(...values)))}
            value={shown}
            time={minute}
            tick={(at) => tickOf(at, range)}
          />
          <Table points={datapoints} shown={shown} />
        </>
      )}
    </section>
  );
}

/** `14:00` within two days, else `12 Nov`. */
function tickOf(at: number, { start, end }: Range): string {
  const isShort = end - start <= 2 * presets.day;
  const isLong = end - start > presets.year * 1.1;
  const format: Intl.DateTimeFormatOptions = isShort
    ? { hour: '2-digit', minute: '2-digit' }
    : isLong
      ? { month: 'short', year: 'numeric' }
      : { day: 'numeric', month: 'short' };
  return new Intl.DateTimeFormat(locale.value, format).format(at);
}

function Table({
  points,
  shown,
}: {
  readonly points: MetricData['datapoints'];
  readonly shown: (value: number) => string;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const texts = t.value.monitoring;
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{texts.table}</summary>
      {isOpen && (
        <div class="chart-table" tabIndex={0} role="region" aria-label={texts.table}>
          <table>
            <thead>
              <tr>
                <th>{texts.time}</th>
                <th class="number">{texts.value}</th>
              </tr>
            </thead>
            <tbody>
              {points.map(({ at, value }) => (
                <tr key={at}>
                  <td>{minute(at)}</td>
                  <td class="number">{shown(value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
