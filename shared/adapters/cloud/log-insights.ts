import {
  CloudWatchLogsClient,
  type CloudWatchLogsClientConfig,
  GetQueryResultsCommand,
  MalformedQueryException,
  type ResultField,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import type { LoggedRequests, RequestLog } from '../../ports/request-log.ts';

export interface LogInsightsOptions {
  /** The names of the log groups with request logs. */
  readonly groups: readonly string[];
  /** The interval, in milliseconds, of checks whether a query is complete. */
  readonly pollTime?: number;
  /** The maximum number of rows of a result. */
  readonly maxLines?: number;
  /** SDK client settings. Omitted settings come from the environment. */
  readonly client?: CloudWatchLogsClientConfig;
}

/** The service's limit. https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html */
const maxLines = 10_000;

/**
 * The request log in CloudWatch Logs, aggregated by Logs Insights, so that logs need not be exported and can be queried
 * again.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html
 */
export class LogInsights implements RequestLog {
  readonly #client: CloudWatchLogsClient;
  readonly #groups: readonly string[];
  readonly #pollTime: number;
  readonly #maxLines: number;

  constructor(options: LogInsightsOptions) {
    this.#client = new CloudWatchLogsClient(options.client ?? {});
    this.#groups = options.groups;
    this.#pollTime = options.pollTime ?? 500;
    this.#maxLines = options.maxLines ?? maxLines;
  }

  /** Sums up requests by payer and class. @throws Error if a query fails */
  between(from: number, until: number): Promise<readonly LoggedRequests[]> {
    return this.#between(this.#groups, from, until);
  }

  async #between(groups: readonly string[], from: number, until: number): Promise<readonly LoggedRequests[]> {
    const lines = await this.#ask(groups, from, until);
    if (lines === undefined) {
      // The error does not name the log group.
      const found = groups.length === 1 ? [] : groups.map((group) => this.#between([group], from, until));
      return added((await Promise.all(found)).flat());
    }
    if (lines.length < this.#maxLines) return lines.map(requestsOf);
    // There may be more rows than were returned.
    if (until - from <= 1) throw new Error(`more than ${this.#maxLines} projects sent requests in a millisecond`);
    const middle = Math.floor((from + until) / 2);
    return added([...(await this.#between(groups, from, middle)), ...(await this.#between(groups, middle, until))]);
  }

  /** Returns the rows of a query, or undefined if one of the groups cannot have logs for that time. */
  async #ask(
    groups: readonly string[],
    from: number,
    until: number,
  ): Promise<readonly (readonly ResultField[])[] | undefined> {
    const queryId = await this.#start(groups, from, until);
    if (queryId === undefined) return undefined;
    for (;;) {
      const { status, results = [] } = await this.#client.send(new GetQueryResultsCommand({ queryId }));
      if (status === 'Complete') return results;
      if (status !== 'Running' && status !== 'Scheduled')
        throw new Error(`a query of the logs ended with status ${status}`);
      await new Promise((resolve) => setTimeout(resolve, this.#pollTime));
    }
  }

  async #start(groups: readonly string[], from: number, until: number): Promise<string | undefined> {
    const command = new StartQueryCommand({
      logGroupNames: [...groups],
      // Whole seconds, the last one included; the query itself filters by milliseconds.
      startTime: Math.floor(from / 1000),
      endTime: Math.ceil(until / 1000),
      queryString: queryOf(from, until),
      limit: this.#maxLines,
    });
    try {
      return (await this.#client.send(command)).queryId;
    } catch (error) {
      if (error instanceof MalformedQueryException && outsideOfLog.test(error.message)) return undefined;
      throw error;
    }
  }
}

/**
 * Matches the error for a query of a time before a log group was created or beyond its retention. Its exception is the
 * same as for a malformed query; only the text differs.
 */
const outsideOfLog = /before the log groups? creation time|exceeds the log groups? log retention/;

/**
 * Builds the query. What is charged has a class: a line `request` for one request, or a line `requests` with the number of them.
 * The use of a key is a line of no requests that names it. `count` of a field counts the lines that have it.
 */
function queryOf(from: number, until: number): string {
  const totals = ['count(*) as lines', 'count(requests) as counts', 'sum(requests) as counted'];
  return [
    `filter message in ["request", "requests"] and ispresent(class)`,
    `filter toMillis(@timestamp) >= ${from} and toMillis(@timestamp) < ${until}`,
    `stats ${totals.join(', ')}, sum(bytesIn) as received, sum(bytesOut) as sent, max(usedAt) as lastUse by payer, class, usedKey, usedFor`,
  ].join(' | ');
}

function requestsOf(line: readonly ResultField[]): LoggedRequests {
  const {
    payer,
    class: kind,
    usedKey: id,
    usedFor: service,
    lastUse,
    ...numbers
  } = Object.fromEntries(line.map(({ field, value }) => [field!, value!]));
  // The sum of a field that no line has is not a number.
  const counts = wholeNumber(numbers['counts']);
  return {
    payer: payer!,
    class: kind!,
    requests: wholeNumber(numbers['lines']) - counts + (counts === 0 ? 0 : wholeNumber(numbers['counted'])),
    bytesIn: wholeNumber(numbers['received']),
    bytesOut: wholeNumber(numbers['sent']),
    ...(id !== undefined && { use: { id, service: service!, at: wholeNumber(lastUse) } }),
  };
}

/** Parses a number. Numbers arrive as text, large ones possibly with an exponent. */
function wholeNumber(text: string | undefined): number {
  const value = Number(text);
  if (text === undefined || !Number.isSafeInteger(value))
    throw new Error(`the logs returned ${text} instead of a number`);
  return value;
}

function added(all: readonly LoggedRequests[]): readonly LoggedRequests[] {
  const sums = new Map<string, LoggedRequests>();
  for (const one of all) {
    const name = `${one.class} ${one.payer} ${one.use?.service} ${one.use?.id}`;
    const before = sums.get(name) ?? { requests: 0, bytesIn: 0, bytesOut: 0, use: undefined };
    sums.set(name, {
      ...one,
      ...(one.use && { use: { ...one.use, at: Math.max(one.use.at, before.use?.at ?? 0) } }),
      requests: before.requests + one.requests,
      bytesIn: before.bytesIn + one.bytesIn,
      bytesOut: before.bytesOut + one.bytesOut,
    });
  }
  return [...sums.values()];
}
