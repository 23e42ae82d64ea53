import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeOperations, functionsOf } from '../../infra/bundles/operation-descriptions.ts';
import { presets, type Preset } from '../../infra/presets.ts';
import { inventory, synthesise, templates } from './synthesis.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/cloud.md'), 'utf8');

/**
 * Monthly prices of resources that are paid for even when idle, in dollars, in us-east-1, November 2026:
 * https://aws.amazon.com/cloudwatch/pricing/,
 * https://aws.amazon.com/secrets-manager/pricing/,
 * https://aws.amazon.com/elasticloadbalancing/pricing/
 */
const monthly: Readonly<Record<string, number>> = {
  'AWS::CloudWatch::Alarm': 0.1,
  'AWS::CloudWatch::Dashboard': 3,
  'AWS::Logs::MetricFilter': 0.3,
  'AWS::SecretsManager::Secret': 0.4,
  'AWS::ElasticLoadBalancingV2::LoadBalancer': 16.43,
};
const hours = 730;
/** Of a processor, a GB and a public address, in dollars an hour: https://aws.amazon.com/fargate/pricing/, https://aws.amazon.com/vpc/pricing/ */
const hourly = { processor: 0.03238, gigabyte: 0.00356, address: 0.005 };
/** Metrics of Container Insights, scrubs, requests of schedules: in no template, and estimated. */
const besides = 10;

function serverDollars(preset: Preset): number {
  const { byteLane, byteLaneMinimumTasks: servers, byteLaneCpu, byteLaneMemory } = presets[preset];
  const { processor, gigabyte, address } = hourly;
  const server = (byteLaneCpu / 1024) * processor + (byteLaneMemory / 1024) * gigabyte + address;
  return byteLane === 'fargate' ? servers * server * hours : 0;
}

describe('what docs/cloud.md says a preset costs without traffic', () => {
  it.each(Object.keys(presets) as Preset[])('is what its templates cost by the month: %s', async (preset) => {
    const synthesis = await synthesise(functionsOf(await describeOperations()), { context: { preset } });
    const fixed = templates(synthesis)
      .flatMap(([, template]) => Object.entries(inventory(template)))
      .reduce((sum, [type, number]) => sum + number * (monthly[type] ?? 0), serverDollars(preset));
    const [, idle] = new RegExp(`^\\| \\\`${preset}\\\` \\| [^|]*\\| (\\d+) \\|`, 'm').exec(page)!;
    expect(Number(idle)).toBeGreaterThan(fixed);
    expect(Number(idle) - fixed).toBeLessThan(besides);
  });

  it('is less than 25 dollars for the smallest', () => {
    const [, idle] = /^\| `small` \| [^|]*\| (\d+) \|/m.exec(page)!;
    expect(Number(idle)).toBeLessThan(25);
  });
});
