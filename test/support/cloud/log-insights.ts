import { randomUUID } from 'node:crypto';

/** A line of a log, and when it came. */
interface LogLine {
  readonly at: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Query {
  readonly logGroupNames: readonly string[];
  readonly startTime: number;
  readonly endTime: number;
  readonly queryString: string;
  readonly limit?: number;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

type Row = readonly { readonly field: string; readonly value: string }[];

/**
 * The parts of CloudWatch Logs Insights that are used here, according to the documentation: filters of a few forms, and sums by fields.
 * Like the original, it refuses a query that it does not understand.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html
 */
export class LogInsightsEngine {
  /** The queries that were sent. */
  readonly queries: Query[] = [];
  readonly #linesOf: (group: string) => Promise<readonly string[] | undefined>;
  readonly #createdAt: (group: string) => number;
  readonly #results = new Map<string, readonly Row[]>();
  readonly #asked = new Set<string>();

  /**
   * @param linesOf the lines of a log group, JSON with their `time`; undefined: there is no such group
   * @param createdAt when a group was created, in milliseconds since the epoch. Default: when this engine was, as with a deployment
   */
  constructor(
    linesOf: (group: string) => Promise<readonly string[] | undefined>,
    createdAt: (group: string) => number = always(Date.now()),
  ) {
    this.#linesOf = linesOf;
    this.#createdAt = createdAt;
  }

  /** @param target the header `X-Amz-Target` */
  async answer(target: string, body: string): Promise<Answer> {
    if (target.endsWith('.StartQuery')) return this.#start(JSON.parse(body) as Query);
    const { queryId } = JSON.parse(body) as { queryId: string };
    // The first request for results finds the query still running.
    if (!this.#asked.has(queryId)) {
      this.#asked.add(queryId);
      return { status: 200, body: { status: 'Running', results: [] } };
    }
    return { status: 200, body: { status: 'Complete', results: this.#results.get(queryId) } };
  }

  async #start(query: Query): Promise<Answer> {
    this.queries.push(query);
    const lines: LogLine[] = [];
    for (const group of query.logGroupNames) {
      const found = await this.#linesOf(group);
      if (found === undefined) return { status: 400, body: { __type: 'ResourceNotFoundException', message: group } };
      lines.push(...found.map(parsed).filter((line) => line !== undefined));
    }
    const { startTime, endTime, limit = 10_000 } = query;
    if (query.logGroupNames.some((group) => endTime * 1000 < this.#createdAt(group))) return malformed(tooEarly);
    const inTime = lines.filter(({ at }) => at >= startTime * 1000 && at <= endTime * 1000);
    try {
      const queryId = randomUUID();
      this.#results.set(queryId, rowsOf(query.queryString, inTime).slice(0, limit));
      return { status: 200, body: { queryId } };
    } catch (error) {
      return malformed((error as Error).message);
    }
  }
}

/**
 * Refused, rather than answered with nothing, is a range that ends before a log group was created, or before the lines that its
 * retention has left. The words are those of public reports;
 * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html has the exception.
 */
const tooEarly =
  "Query's end date and time is either before the log groups creation time or exceeds the log groups log retention settings ([0,79])";

function malformed(message: string): Answer {
  return { status: 400, body: { __type: 'MalformedQueryException', message } };
}

function always<Value>(value: Value): () => Value {
  return () => value;
}

function parsed(line: string): LogLine | undefined {
  if (!line.startsWith('{')) return undefined;
  const fields = JSON.parse(line) as Record<string, unknown>;
  return { at: Date.parse(String(fields['timestamp'])), fields };
}

function rowsOf(queryString: string, lines: readonly LogLine[]): readonly Row[] {
  let left = lines;
  let rows: readonly Row[] = [];
  for (const command of queryString.split(' | ')) {
    const [, verb, rest] = /^(filter|stats) (.+)$/.exec(command) ?? [];
    if (verb === 'filter') {
      const tests = rest!.split(' and ').map(testOf);
      left = left.filter((line) => tests.every((holds) => holds(line)));
    } else if (verb === 'stats') rows = stats(rest!, left);
    else throw new Error(`not understood: ${command}`);
  }
  return rows;
}

function testOf(text: string): (line: LogLine) => boolean {
  const [, equal, value] = /^(\w+) = "([^"]*)"$/.exec(text) ?? [];
  if (equal !== undefined) return ({ fields }) => fields[equal] === value;
  const [, member, list] = /^(\w+) in \[("[^\]]*")\]$/.exec(text) ?? [];
  if (member !== undefined) {
    const values = JSON.parse(`[${list}]`) as string[];
    return ({ fields }) => values.includes(String(fields[member]));
  }
  const [, present] = /^ispresent\((\w+)\)$/.exec(text) ?? [];
  if (present !== undefined) return ({ fields }) => fields[present] !== undefined;
  const [, sign, bound] = /^toMillis\(@timestamp\) (>=|<) (\d+)$/.exec(text) ?? [];
  if (sign === undefined) throw new Error(`not understood: ${text}`);
  return ({ at }) => (sign === '<' ? at < Number(bound) : at >= Number(bound));
}

function stats(text: string, lines: readonly LogLine[]): readonly Row[] {
  const [columns, by] = text.split(' by ');
  const keys = by!.split(', ');
  const sums = columns!.split(', ').map((column) => {
    const [, verb, field, name] = /^(count|sum|max)\((\*|\w+)\) as (\w+)$/.exec(column) ?? [];
    if (name === undefined || (verb !== 'count' && field === '*')) throw new Error(`not understood: ${column}`);
    const valuesOf = (some: readonly LogLine[]): number[] => {
      const having = field === '*' ? some : some.filter(({ fields }) => fields[field!] !== undefined);
      return having.map(({ fields }) => (verb === 'count' ? 1 : Number(fields[field!])));
    };
    return { name, valuesOf, verb };
  });
  const groups = new Map<string, LogLine[]>();
  for (const line of lines) {
    const group = JSON.stringify(keys.map((key) => line.fields[key]));
    groups.set(group, [...(groups.get(group) ?? []), line]);
  }
  return [...groups].map(([group, own]) => [
    ...(JSON.parse(group) as (string | null)[]).flatMap((value, at) =>
      value === null ? [] : [{ field: keys[at]!, value }],
    ),
    ...sums.flatMap(({ name, valuesOf, verb }) => {
      const values = valuesOf(own);
      // A sum of nothing is no number.
      if (verb !== 'count' && values.length === 0) return [];
      const value = verb === 'max' ? Math.max(...values) : values.reduce((sum, one) => sum + one, 0);
      return [{ field: name, value: String(value) }];
    }),
  ]);
}
