import { CloudWatchClient, GetMetricDataCommand, type CloudWatchClientConfig } from '@aws-sdk/client-cloudwatch';

/** CloudFront has its metrics there, whatever the region of its origins. */
const region = 'us-east-1';
/** In seconds: of one value, and how far back the newest ones may lie. */
const period = 300;
const window = 900;

/** Reads what CloudFront counts of the errors of distributions. */
export class EdgeErrors {
  readonly #client: CloudWatchClient;
  readonly #distributions: readonly string[];

  /** @param distributions their ids */
  constructor(distributions: readonly string[], client: CloudWatchClientConfig = {}) {
    this.#client = new CloudWatchClient({ region, ...client });
    this.#distributions = distributions;
  }

  /**
   * The largest share of requests, in per cent, that one of them answered 5xx in the newest five minutes that there are numbers of; zero
   * without requests. https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/programming-cloudwatch-metrics.html
   *
   * @param now in milliseconds
   */
  async percent(now: number): Promise<number> {
    const { MetricDataResults = [] } = await this.#client.send(
      new GetMetricDataCommand({
        StartTime: new Date(now - window * 1000),
        EndTime: new Date(now),
        ScanBy: 'TimestampDescending',
        MetricDataQueries: this.#distributions.map((id, index) => ({
          Id: `m${index}`,
          MetricStat: {
            Metric: {
              Namespace: 'AWS/CloudFront',
              MetricName: '5xxErrorRate',
              Dimensions: [
                { Name: 'DistributionId', Value: id },
                { Name: 'Region', Value: 'Global' },
              ],
            },
            Period: period,
            Stat: 'Average',
          },
        })),
      }),
    );
    return Math.max(0, ...MetricDataResults.map(({ Values = [] }) => Values[0] ?? 0));
  }
}
