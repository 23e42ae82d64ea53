import { CloudWatchClient, GetMetricDataCommand, type CloudWatchClientConfig } from '@aws-sdk/client-cloudwatch';

/** CloudFront's metrics are in this region, whatever the region of its origins. */
const region = 'us-east-1';
/** In seconds: the period of one value, and the maximum age of the newest values. */
const period = 300;
const window = 900;

/** Reads the error rates of CloudFront distributions. */
export class EdgeErrors {
  readonly #client: CloudWatchClient;
  readonly #distributions: readonly string[];

  /** @param distributions their ids */
  constructor(distributions: readonly string[], client: CloudWatchClientConfig = {}) {
    this.#client = new CloudWatchClient({ region, ...client });
    this.#distributions = distributions;
  }

  /**
   * Returns the highest percentage of requests that one of the distributions answered with 5xx, in the newest five
   * minutes with data; zero without requests.
   * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/programming-cloudwatch-metrics.html
   *
   * @param now in milliseconds since the epoch
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
