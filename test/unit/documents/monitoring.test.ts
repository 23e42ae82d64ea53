import { describe, expect, it } from 'vitest';
import {
  alarmHistory,
  alarmListing,
  metricData,
  monitoring,
  putAlarmResult,
  writtenAlarm,
} from '../../../shared/documents/monitoring.ts';
import { readDocument } from '../../../shared/xml/reader.ts';
import { codeOf, golden, namespace } from '../xml/golden.ts';

const at = Date.UTC(2026, 10, 20, 10);

describe('MonitoringConfiguration', () => {
  it('is written and read', () => {
    const written = monitoring.write('Enabled', namespace);
    expect(written).toBe(golden`
      <MonitoringConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>Enabled</Status></MonitoringConfiguration>`);
    expect(readDocument(written, monitoring)).toBe('Enabled');
  });

  it('has a status that is one of two', () => {
    expect(codeOf(() => readDocument('<MonitoringConfiguration/>', monitoring))).toBe('MalformedXML');
  });
});

describe('MetricData', () => {
  it('is written', () => {
    const data = {
      ...{ bucket: 'photos', metric: 'NumberOfObjects', statistic: 'Average', unit: 'Count', period: 300 },
      current: { at, value: 3 },
      datapoints: [{ at: at - 300_000, value: 2.5 }],
    };
    expect(metricData.write(data, namespace)).toBe(golden`
      <MetricData xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Bucket>photos</Bucket>
        <Metric>NumberOfObjects</Metric>
        <Statistic>Average</Statistic>
        <Unit>Count</Unit>
        <Period>300</Period>
        <Current><Timestamp>2026-11-20T10:00:00.000Z</Timestamp><Value>3</Value></Current>
        <Datapoint><Timestamp>2026-11-20T09:55:00.000Z</Timestamp><Value>2.5</Value></Datapoint>
      </MetricData>`);
  });
});

describe('Alarm', () => {
  const readAlarm = (text: string) => readDocument(text, writtenAlarm);

  it('is read without being judged', () => {
    const read = readAlarm('<Alarm><Metric>any</Metric><OKAction>a</OKAction><OKAction>b</OKAction></Alarm>');
    expect(read).toMatchObject({ Metric: 'any', OKAction: ['a', 'b'], AlarmAction: [] });
    expect(codeOf(() => readAlarm('<Alarm><Metric>a</Metric><Metric>a</Metric></Alarm>'))).toBe('MalformedXML');
    expect(codeOf(() => readAlarm('<Alarm><Name>a</Name></Alarm>'))).toBe('MalformedXML');
  });

  it('is answered with a secret, if it has got one', () => {
    expect(putAlarmResult.write({ name: 'a&b', webhookSecret: 'secret' }, namespace)).toBe(golden`
      <PutAlarmResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>a&amp;b</Name><WebhookSecret>secret</WebhookSecret></PutAlarmResult>`);
    expect(putAlarmResult.write({ name: 'a', webhookSecret: undefined }, namespace)).not.toContain('WebhookSecret');
  });

  it('is listed', () => {
    const alarm = {
      ...{ name: 'full', description: undefined, metric: 'BucketSizeBytes', statistic: 'Maximum' },
      ...{ comparison: 'GreaterThanThreshold', threshold: 1e21, period: 300, evaluationPeriods: 2 },
      ...{ datapointsToAlarm: 1, treatMissingData: 'missing', actionsEnabled: true },
      ...{ OKAction: [], AlarmAction: ['log:', 'https://a.test/?b&c'], InsufficientDataAction: [] },
      ...{ state: 'OK', reason: 'x < y', since: at, created: at },
    };
    const listing = {
      bucket: 'photos',
      marker: 'a',
      nextMarker: 'full',
      maxAlarms: 1,
      isTruncated: true,
      alarms: [alarm],
    };
    expect(alarmListing.write(listing, namespace)).toBe(golden`
      <ListAlarmsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>photos</Name>
        <Marker>a</Marker>
        <NextMarker>full</NextMarker>
        <MaxAlarms>1</MaxAlarms>
        <IsTruncated>true</IsTruncated>
        <Alarm>
          <Name>full</Name>
          <Metric>BucketSizeBytes</Metric>
          <Statistic>Maximum</Statistic>
          <ComparisonOperator>GreaterThanThreshold</ComparisonOperator>
          <Threshold>1e+21</Threshold>
          <Period>300</Period>
          <EvaluationPeriods>2</EvaluationPeriods>
          <DatapointsToAlarm>1</DatapointsToAlarm>
          <TreatMissingData>missing</TreatMissingData>
          <ActionsEnabled>true</ActionsEnabled>
          <AlarmAction>log:</AlarmAction>
          <AlarmAction>https://a.test/?b&amp;c</AlarmAction>
          <State>OK</State>
          <StateReason>x &lt; y</StateReason>
          <StateUpdatedTimestamp>2026-11-20T10:00:00.000Z</StateUpdatedTimestamp>
          <CreationDate>2026-11-20T10:00:00.000Z</CreationDate>
        </Alarm>
      </ListAlarmsResult>`);
  });

  it('has a history', () => {
    const entries = [{ at, type: 'Action', summary: 'It was <done>.' }];
    expect(alarmHistory.write({ name: 'full', marker: '', isTruncated: false, entries }, namespace)).toBe(golden`
      <AlarmHistory xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>full</Name>
        <Marker/>
        <IsTruncated>false</IsTruncated>
        <Item>
          <Timestamp>2026-11-20T10:00:00.000Z</Timestamp>
          <Type>Action</Type>
          <Summary>It was &lt;done&gt;.</Summary>
        </Item>
      </AlarmHistory>`);
  });
});
