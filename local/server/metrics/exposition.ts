/*
 * The text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

/** The labels of a sample. A value that clients choose is a label only if the number of such values is limited. */
type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
  /** The suffix of the name of this series, for histograms. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

/** A metric with all its samples. */
export interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Returns metrics as text. Omits those without samples. */
export function exposition(metrics: readonly Metric[]): string {
  const present = metrics.filter(({ samples }) => samples.length > 0);
  return present.map(metricText).join('');
}

function metricText({ name, type, help, samples }: Metric): string {
  const lines = samples.map(
    ({ suffix = '', labels = {}, value }) => `${name}${suffix}${labelText(labels)} ${numberText(value)}\n`,
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return String(value);
}
