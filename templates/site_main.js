// Puts the dashboard together: search, agent, and the list of trends.

const byId = (id) => document.getElementById(id);
const list = makeTrends();
function refilter() {
  const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const agent = byId("provider").value;
  const found = trends.filter((one) => (!agent || one.agent === agent) && words.every((word) => one.text.includes(word)));
  list.update(found);
  byId("count").textContent = `${found.length < trends.length ? `${found.length.toLocaleString("en")} of ` : ""}${count(trends.length, "pair", "pairs")}`;
}
byId("provider").append(...meta.agents.map((agent) => make("option", { value: agent }, oneLine(agent))));
for (const id of ["find", "provider"]) byId(id).addEventListener("input", refilter);
byId("panel").append(list.element);
refilter();
