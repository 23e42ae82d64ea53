import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  AlarmDefinition,
  AlarmState,
  MissingDataTreatment,
} from '../../../../shared/monitoring/alarms/alarm-definition.ts';
import {
  alarmWindow,
  evaluateAlarm,
  type AlarmRule,
  type Window,
} from '../../../../shared/monitoring/alarms/alarm-evaluation.ts';
import { aggregateOf, type Point } from '../../../../shared/monitoring/statistics.ts';

const treatments = ['missing', 'ignore', 'breaching', 'notBreaching'] as const;
const states = ['OK', 'ALARM', 'INSUFFICIENT_DATA'] as const;

/** `0` does not breach, `X` does, `-` is missing; the oldest first, as CloudWatch's documentation writes it. */
function windowOf(drawing: string): Window {
  return [...drawing].map((mark, at) =>
    mark === '-' ? undefined : { at: at * 300_000, value: mark === 'X' ? 11 : 9 },
  );
}

function rule(datapointsToAlarm: number, evaluationPeriods: number, treatMissingData: MissingDataTreatment): AlarmRule {
  return { comparison: 'GreaterThanThreshold', threshold: 10, datapointsToAlarm, evaluationPeriods, treatMissingData };
}

/** The state of an alarm after these datapoints; `keeps` if it depends on the one before. */
function outcome(datapointsToAlarm: number, drawing: string, treatment: MissingDataTreatment): AlarmState | 'keeps' {
  const found = states.map(
    (present) => evaluateAlarm(rule(datapointsToAlarm, drawing.length, treatment), windowOf(drawing), present).state,
  );
  if (found.every((state, at) => state === states[at])) return 'keeps';
  expect(new Set(found).size).toBe(1);
  return found[0]!;
}

const none = 'INSUFFICIENT_DATA';

/**
 * The tables of https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html. CloudWatch looks at
 * more datapoints than the alarm has periods; here it is those of the periods alone, so each row stands with its last three.
 */
describe('the documented examples', () => {
  it.each([
    // of 0 - X - X
    ['X-X', 'keeps-or-ALARM', 'keeps', 'ALARM', 'OK'],
    // of 0 - - - -, and of - - - - -
    ['---', none, 'keeps', 'ALARM', 'OK'],
    // of 0 X X - X with the datapoint that came late
    ['XXX', 'ALARM', 'ALARM', 'ALARM', 'ALARM'],
    // of - - X - -
    ['X--', 'ALARM', 'keeps', 'ALARM', 'OK'],
  ] as const)('with three datapoints out of three: %s', (drawing, missing, ignore, breaching, notBreaching) => {
    const expected = [missing === 'keeps-or-ALARM' ? 'ALARM' : missing, ignore, breaching, notBreaching];
    expect(treatments.map((treatment) => outcome(3, drawing, treatment))).toEqual(expected);
  });

  it.each([
    // of 0 - X - X
    ['X-X', 'ALARM', 'ALARM', 'ALARM', 'ALARM'],
    // of 0 0 X 0 X
    ['X0X', 'ALARM', 'ALARM', 'ALARM', 'ALARM'],
    // of - - - - 0
    ['--0', 'OK', 'keeps', 'ALARM', 'OK'],
    // of - - - X -
    ['-X-', 'ALARM', 'keeps', 'ALARM', 'OK'],
    // of 0 - X - -, had the 0 come a period later
    ['0X-', 'OK', 'keeps', 'ALARM', 'OK'],
    ['X0-', 'OK', 'keeps', 'ALARM', 'OK'],
    // A first breach among missing ones is too young to be an alarm.
    ['--X', 'keeps', 'keeps', 'ALARM', 'OK'],
    ['00X', 'OK', 'OK', 'OK', 'OK'],
    ['0-0', 'OK', 'OK', 'OK', 'OK'],
  ] as const)('with two datapoints out of three: %s', (drawing, ...expected) => {
    expect(treatments.map((treatment) => outcome(2, drawing, treatment))).toEqual(expected);
  });
});

const marks = fc.array(fc.constantFrom('0', 'X', '-'), { minLength: 1, maxLength: 12 }).map((list) => list.join(''));
const situation = marks.chain((drawing) =>
  fc.record({
    drawing: fc.constant(drawing),
    needed: fc.integer({ min: 1, max: drawing.length }),
    present: fc.constantFrom(...states),
    treatment: fc.constantFrom(...treatments),
  }),
);
const countOf = (drawing: string, mark: string): number => [...drawing].filter((one) => one === mark).length;

describe('an evaluation', () => {
  it('is an alarm exactly if enough datapoints breach, where none is missing', () => {
    fc.assert(
      fc.property(situation, ({ drawing, needed, present, treatment }) => {
        const whole = drawing.replaceAll('-', '0');
        const { state } = evaluateAlarm(rule(needed, whole.length, treatment), windowOf(whole), present);
        expect(state).toBe(countOf(whole, 'X') >= needed ? 'ALARM' : 'OK');
      }),
    );
  });

  it('is what filling in the missing datapoints would make it, where they count as something', () => {
    fc.assert(
      fc.property(situation, ({ drawing, needed, present }) => {
        for (const [treatment, mark] of [
          ['breaching', 'X'],
          ['notBreaching', '0'],
        ] as const) {
          const filled = drawing.replaceAll('-', mark);
          const { state } = evaluateAlarm(rule(needed, drawing.length, treatment), windowOf(drawing), present);
          expect(state).toBe(evaluateAlarm(rule(needed, filled.length, treatment), windowOf(filled), present).state);
        }
      }),
    );
  });

  it('never depends on missing datapoints that could not change it', () => {
    fc.assert(
      fc.property(situation, ({ drawing, needed, present, treatment }) => {
        const ends = ['X', '0'].map((mark) => countOf(drawing.replaceAll('-', mark), 'X') >= needed);
        const { state } = evaluateAlarm(rule(needed, drawing.length, treatment), windowOf(drawing), present);
        if (ends[0] === ends[1]) expect(state).toBe(ends[0] ? 'ALARM' : 'OK');
        else if (treatment === 'ignore') expect(state).toBe(present);
        if (state === none && present !== none) {
          expect(treatment).toBe('missing');
          expect(countOf(drawing, '-')).toBe(drawing.length);
        }
      }),
    );
  });

  it('says why', () => {
    const reasonOf = (needed: number, drawing: string, treatment: MissingDataTreatment): string =>
      evaluateAlarm(rule(needed, drawing.length, treatment), windowOf(drawing), 'OK').reason;
    expect(reasonOf(2, 'X0X', 'missing')).toBe(
      'Threshold crossed: 2 of the last 3 datapoints [11 (1970-01-01T00:00:00.000Z), 11 (1970-01-01T00:10:00.000Z)]' +
        ' were greater than the threshold (10).',
    );
    expect(reasonOf(2, 'X--', 'breaching')).toMatch(/; 2 missing ones are treated as breaching\.$/);
    expect(reasonOf(2, '00-', 'missing')).toMatch(
      /^Threshold not crossed: 2 of the last 3 .*; 1 is missing; 2 breaching/,
    );
    expect(reasonOf(1, '--', 'missing')).toBe('Insufficient data: there was no datapoint in the last 2 periods.');
    expect(reasonOf(1, 'X'.repeat(288), 'missing').length).toBeLessThan(400);
  });
});

describe.each([
  ['GreaterThanThreshold', [false, false, true]],
  ['GreaterThanOrEqualToThreshold', [false, true, true]],
  ['LessThanThreshold', [true, false, false]],
  ['LessThanOrEqualToThreshold', [true, true, false]],
] as const)('%s', (comparison, expected) => {
  it('means what it says, at the threshold too', () => {
    const found = [9, 10, 11].map(
      (value) => evaluateAlarm({ ...rule(1, 1, 'missing'), comparison }, [{ at: 0, value }], none).state === 'ALARM',
    );
    expect(found).toEqual(expected);
  });
});

describe('the window of an alarm', () => {
  const definition = {
    metric: 'NumberOfObjects',
    statistic: 'Sum',
    period: 600,
    evaluationPeriods: 3,
  } as AlarmDefinition;
  const point = (minutes: number, value: number): Point => ({
    at: minutes * 60_000,
    values: { NumberOfObjects: aggregateOf(value), BucketSizeBytes: aggregateOf(-1) },
  });

  it('ends where it is told to, whatever the clock says of periods', () => {
    const points = [0, 5, 10, 15, 20, 25, 30, 35].map((minutes) => point(minutes, 2 ** (minutes / 5)));
    const at = (minutes: number): number => minutes * 60_000;
    expect(alarmWindow(definition, points, at(35))).toEqual([
      { at: at(5), value: 2 + 4 },
      { at: at(15), value: 8 + 16 },
      { at: at(25), value: 32 + 64 },
    ]);
    expect(alarmWindow(definition, points.slice(0, 2), at(25))).toEqual([
      { at: at(-5), value: 1 },
      { at: at(5), value: 2 },
      undefined,
    ]);
  });
});
