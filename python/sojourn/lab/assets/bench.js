// Two runs side by side: how their time passes, and what is changed in them.

import { Side } from "./side.js";
import { after, current, each, seconds, written } from "./changes.js";
import { Run } from "./run.js";
import { shown } from "./values.js";

export const SIDES = ["A", "B"];

const untouched = () => ({ from: {}, later: [] });

export class Bench {
  experiment = undefined;
  /** For each side what was set at its start, `from`, and what `later`, at instants. */
  changes = { A: untouched(), B: untouched() };
  /** Whether B is a copy of A, with A's setting. */
  forked = false;
  /** Whether each change runs the whole again. */
  whole = false;
  speed = 1;
  playing = false;
  runs = {};
  #engines = {};
  /** Says what is wrong with a value: no run is in it, and it is never closed. */
  #judge;
  #module;
  #told;
  #generation = 0;
  /** Why the runs could not begin. */
  #wrong = "";
  #target = 0;
  #waiting = [];
  #settling = undefined;
  #passed = 0;

  /**
   * @param {WebAssembly.Module} module
   * @param {{stale: () => void, status: (text: string) => void, complain: (text: string) => void,
   *   refused: (where: string, paths: string[], why: string) => void, set: () => void,
   *   ended: () => void}} told what the page is told: it is to be drawn again; a word on what
   *   happened; something is wrong; a value is refused; other values are set; both runs are over
   */
  static async open(module, told) {
    const bench = new Bench();
    bench.#module = module;
    bench.#told = told;
    for (const name of SIDES) bench.#engines[name] = Side.open(module);
    bench.#judge = await Side.open(module);
    return bench;
  }

  /** Puts an experiment on the table, at its start. */
  choose(experiment, { A = untouched(), B = untouched(), forked = false } = {}) {
    this.pause();
    this.#waiting = [];
    Object.assign(this, { experiment, changes: { A, B }, forked });
    return this.restart();
  }

  /** What a scenario says, or what is wrong with it. */
  async fields(toml) {
    return (await this.#asked()).fields(toml);
  }

  /** What is set on a side at its present time, by hand or by the scenario itself. */
  current(name) {
    const { from } = this.changes[name];
    return current({ from, later: this.#later(name) }, this.runs[name]?.time ?? 0);
  }

  /** What of that was set by hand. */
  #byHand(name) {
    return current(this.changes[name], this.runs[name]?.time ?? 0);
  }

  /** All that changes in a run, in its order: the scenario's own changes, and those by hand. */
  #later(name) {
    const all = [...(this.runs[name]?.changes ?? []), ...this.changes[name].later];
    return all.sort((one, two) => seconds(one.at) - seconds(two.at));
  }

  get span() {
    return Math.min(120, this.duration || 120, Math.max(2, 10 * this.speed));
  }

  get duration() {
    return Math.max(0, ...this.#all.map((run) => run.duration ?? 0));
  }

  get time() {
    return Math.max(0, ...this.#all.map((run) => run.time));
  }

  get done() {
    return this.#all.length > 0 && this.#all.every((run) => run.done);
  }

  get #all() {
    return Object.values(this.runs);
  }

  /** Both sides at time 0, with their changes at the instants of these. */
  async restart() {
    const mine = ++this.#generation;
    this.#wrong = "";
    this.#target = 0;
    this.#passed = 0;
    // What the last setting still does is not waited for.
    for (const run of this.#all) {
      if (run.busy || run.side?.broken) {
        run.engine.then((side) => side.close());
        this.#engines[run.name] = Side.open(this.#module);
      } else run.forget();
    }
    for (const name of SIDES) this.runs[name] = new Run(name, this.#engines[name]);
    this.#told.stale();
    this.#told.set();
    try {
      await Promise.all(this.#all.map((run) => run.begin((engine) => this.#whole(run, engine))));
    } catch (error) {
      if (mine === this.#generation) {
        this.#wrong = error.message;
        this.#told.complain(error.message);
      }
    }
    if (mine === this.#generation) this.#told.stale();
  }

  /** From the start with what is set now. */
  afresh() {
    for (const name of SIDES) this.changes[name] = { from: this.#byHand(name), later: [] };
    return this.restart();
  }

  /** The scenarios of both sides with what is set now. */
  async present() {
    const texts = SIDES.map(async (name) => {
      const toml = await this.#scenario(name, this.current(name));
      // What is still to come is not there yet.
      return [name, await (await this.#asked()).changed(toml, { changes: [] })];
    });
    return Object.fromEntries(await Promise.all(texts));
  }

  /** The scenarios of both sides at their start, and until when they hold. */
  async starts() {
    const texts = SIDES.map(async (name) => {
      const { from, later } = this.changes[name];
      const until = Math.min(...later.map(({ at }) => seconds(at)), Number.MAX_VALUE);
      return [name, { toml: await this.#scenario(name, from), until }];
    });
    return Object.fromEntries(await Promise.all(texts));
  }

  /** The scenario of a side as it ran, with all that was changed. */
  async saved(name) {
    const run = this.runs[name];
    if (!run.simulation) throw new Error(`There is no run of ${name} to save.`);
    const judge = await this.#asked();
    return judge.changed(await run.scenario(), { "probes.exchanges": run.asked });
  }

  /** The scenario of a side with other values. */
  async #scenario(name, values) {
    const { toml, sides } = this.experiment;
    const judge = await this.#asked();
    return judge.changed(await judge.changed(toml, sides[this.forked ? "A" : name]), values);
  }

  /** The scenario that a side runs, with users for loads and what changes later. */
  async #whole(run, engine) {
    const { from, later } = this.changes[run.name];
    let toml = await this.#scenario(run.name, from);
    const judge = await this.#asked();
    const { load, traffic, changes, probes } = await judge.fields(toml);
    const given = (each) => each !== undefined && each !== null;
    if (given(load) || traffic.some((group) => given(group.load))) {
      this.#told.status("Counting the users that make this load…");
      toml = await engine.calibrated(toml);
      this.#told.status("");
    }
    run.asked = Boolean(probes?.exchanges);
    toml = await judge.changed(toml, { "probes.exchanges": true });
    run.changes = changes ?? [];
    const all = [...run.changes, ...later];
    run.marks = all.map(({ at }) => seconds(at));
    return later.length === 0 ? toml : judge.changed(toml, { changes: all });
  }

  /** The judge; another one where its engine has failed. */
  async #asked() {
    if (this.#judge.broken) this.#judge = await Side.open(this.#module);
    return this.#judge;
  }

  // -- time

  play() {
    if (this.#wrong) throw new Error(this.#wrong);
    if (this.done) {
      this.#told.status("");
      this.restart();
    }
    this.playing = true;
    this.#target = this.time;
    this.#told.stale();
  }

  pause() {
    this.playing = false;
    this.#told.stale();
  }

  /** Lets time run on by so many seconds of the screen. */
  tick(passed) {
    const running = this.#all.filter((run) => !run.done);
    if (!this.playing || this.#settling || running.length === 0) return;
    if (running.some((run) => !run.simulation)) return;
    const behind = Math.min(...running.map((run) => run.time));
    this.#target = this.whole
      ? behind + this.duration / 40
      : Math.min(this.#target + passed * this.speed, behind + this.speed / 4);
    for (const run of running) {
      if (!run.busy && run.time < this.#target) this.#advance(run, this.#target);
    }
  }

  /** Stops, and goes one step on. */
  async step() {
    this.pause();
    await this.still();
    const until = this.time + (this.whole ? this.duration / 40 : this.span / 200);
    const running = this.#all.filter((run) => run.simulation && !run.done);
    await Promise.all(running.map((run) => this.#advance(run, until)));
  }

  /** Until no side runs and no change is on its way. */
  async still() {
    await this.#settling;
    await this.#idle();
  }

  async #idle() {
    while (this.#all.some((run) => run.busy)) await new Promise((go) => setTimeout(go, 5));
  }

  get #look() {
    return this.whole ? this.duration / 1500 : Math.max(1e-4, this.span / 600);
  }

  async #advance(run, until) {
    const still = () => this.runs[run.name] === run;
    try {
      await run.advance(until, this.#look);
    } catch (error) {
      if (!still()) return;
      this.#told.complain(error.message);
      return this.pause();
    }
    if (!still()) return;
    this.#told.stale();
    const happened = this.#all.flatMap((each) =>
      this.#later(each.name).filter(({ at }) => seconds(at) <= each.time),
    );
    if (happened.length !== this.#passed) this.#told.set();
    this.#passed = happened.length;
    if (!this.done) return;
    this.pause();
    this.#told.ended();
  }

  // -- what is changed

  /** Sets values on a side, or on both with "common". */
  change(where, values) {
    const paths = Object.keys(values);
    // What is moved again before it acted acts once.
    const over = (one) => one.where === where && Object.keys(one.values).every((p) => p in values);
    this.#waiting = this.#waiting.filter((one) => !over(one));
    this.#waiting.push({ where, values, paths });
    this.#settling ??= this.#settle().finally(() => {
      this.#settling = undefined;
    });
    return this.#settling;
  }

  async #settle() {
    // What comes at once is one change.
    await undefined;
    while (this.#waiting.length > 0) {
      const taken = this.#waiting.splice(0);
      const mine = this.#generation;
      const next = Object.fromEntries(SIDES.map((name) => [name, this.#byHand(name)]));
      const good = [];
      for (const { where, values, paths } of taken) {
        const names = where === "common" ? SIDES : [where];
        const wanted = names.map((name) => [name, after(next[name], values)]);
        try {
          for (const [name, set] of wanted) await this.#scenario(name, set);
          Object.assign(next, Object.fromEntries(wanted));
          good.push({ names, values });
        } catch (error) {
          if (mine === this.#generation) this.#told.refused(where, paths, error.message);
        }
      }
      if (good.length > 0 && mine === this.#generation) await this.#make(good, next);
    }
  }

  async #make(good, next) {
    const mine = this.#generation;
    const again = (why) => {
      SIDES.forEach((name) => (this.changes[name] = { from: next[name], later: [] }));
      this.#told.status(why && `Both sides start again: ${why}`);
      this.restart();
      if (this.whole) this.play();
    };
    if (this.whole || this.time === 0 || this.#all.some((run) => !run.simulation)) return again("");
    await this.#idle();
    if (mine !== this.#generation) return;
    if (this.#all.some((run) => run.done)) return again("the run was at its end.");
    const at = await this.#align();
    if (mine !== this.#generation) return;
    try {
      for (const { names, values } of good)
        for (const name of names) await this.runs[name].set(each(values));
    } catch (error) {
      return mine === this.#generation ? again(error.message) : undefined;
    }
    const moved = SIDES.filter((name) => good.some(({ names }) => names.includes(name)));
    for (const name of moved) {
      const made = good.filter(({ names }) => names.includes(name));
      const later = made.flatMap(({ values }) =>
        each(values).map(([path, value]) => ({ at: written(at), set: { [path]: value } })),
      );
      const all = [...this.changes[name].later, ...later];
      this.changes[name].later = all.sort((one, two) => seconds(one.at) - seconds(two.at));
      this.#passed += later.length;
      this.runs[name].marks.push(at);
    }
    this.#told.status(
      `${moved.join(" and ")}: changed at ${shown(at)} s, in the middle of the run.`,
    );
    this.#told.set();
    this.#told.stale();
  }

  /** Brings both sides to one instant, and says which. */
  async #align() {
    const { time } = this;
    for (const run of this.#all.filter((one) => one.time < time)) {
      await run.advance(time, this.#look);
      if (run.time < time) await run.reach(time);
    }
    return time;
  }

  /** Makes B a copy of A at this instant; gives the instant. */
  async fork() {
    this.pause();
    await this.still();
    const { A, B } = this.runs;
    if (!A.simulation || A.done) throw new Error("There is nothing to fork: A is at its end.");
    const mine = this.#generation;
    const copy = await A.fork("B", this.#engines.B);
    if (mine !== this.#generation) {
      copy.forget();
      throw new Error("A has begun anew: there is nothing left to fork.");
    }
    B.forget();
    this.runs.B = copy;
    this.forked = true;
    this.changes.B = structuredClone(this.changes.A);
    this.#told.set();
    this.#told.stale();
    return A.time;
  }
}
