import { expect } from 'vitest';
import type { RawResponse } from '../clients/raw-client.ts';
import type { ServiceUnderTest } from '../programs/service-under-test.ts';
import { queryOf, uriEncode, type Signing } from '../clients/signer.ts';

/** The fields of an alarm's document; a list repeats its element. */
export type AlarmFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** An alarm that has all it needs. */
export const plainAlarm: AlarmFields = {
  Metric: 'NumberOfObjects',
  Statistic: 'Maximum',
  ComparisonOperator: 'GreaterThanThreshold',
  Threshold: 10,
  Period: 300,
  EvaluationPeriods: 1,
};

/** `<Alarm>` with these fields. */
export function alarmXml(fields: AlarmFields): string {
  const elements = Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as readonly string[]) : value === undefined ? [] : [value]).map(
      (one) => `<${name}>${String(one).replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</${name}>`,
    ),
  );
  return `<Alarm>${elements.join('')}</Alarm>`;
}

/** A client of a service's monitoring. */
export class MonitoringClient {
  readonly #service: Pick<ServiceUnderTest, 'send' | 'bucket'>;

  constructor(service: Pick<ServiceUnderTest, 'send' | 'bucket'>) {
    this.#service = service;
  }

  turn(bucket: string, status: string, signing?: Partial<Signing>): Promise<RawResponse> {
    const body = `<MonitoringConfiguration><Status>${status}</Status></MonitoringConfiguration>`;
    return this.#service.send({ method: 'PUT', path: `/${bucket}`, query: 'monitoring', body }, signing);
  }

  status(bucket: string, signing?: Partial<Signing>): Promise<RawResponse> {
    return this.#service.send({ path: `/${bucket}`, query: 'monitoring' }, signing);
  }

  /** A new bucket with monitoring. */
  async bucket(): Promise<string> {
    const bucket = await this.#service.bucket();
    expect((await this.turn(bucket, 'Enabled')).status).toBe(200);
    return bucket;
  }

  metricData(bucket: string, parameters: Readonly<Record<string, string>>): Promise<RawResponse> {
    return this.#service.send({ path: `/${bucket}`, query: queryOf({ 'metric-data': '', ...parameters }) });
  }

  put(bucket: string, name: string, fields: AlarmFields = plainAlarm): Promise<RawResponse> {
    const query = `alarm&name=${uriEncode(name)}`;
    return this.#service.send({ method: 'PUT', path: `/${bucket}`, query, body: alarmXml(fields) });
  }

  alarm(bucket: string, name: string): Promise<RawResponse> {
    return this.#service.send({ path: `/${bucket}`, query: `alarm&name=${uriEncode(name)}` });
  }

  remove(bucket: string, name: string): Promise<RawResponse> {
    return this.#service.send({ method: 'DELETE', path: `/${bucket}`, query: `alarm&name=${uriEncode(name)}` });
  }

  list(bucket: string, parameters: Readonly<Record<string, string>> = {}): Promise<RawResponse> {
    return this.#service.send({ path: `/${bucket}`, query: queryOf({ alarms: '', ...parameters }) });
  }

  history(bucket: string, name: string, parameters: Readonly<Record<string, string>> = {}): Promise<RawResponse> {
    return this.#service.send({ path: `/${bucket}`, query: queryOf({ 'alarm-history': '', name, ...parameters }) });
  }
}
