"""Checks the Kubernetes manifests of deploy/kubernetes; see check.sh.

First strictly against the schemas of the Kubernetes versions that kubernetes-validate brings; then what schemas do not
say: that names which mean the same are the same, that the node's configuration is one and fits the pod, that probes ask
for what the node answers without a token.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import kubernetes_validate
import yaml
from kubernetes_validate import utils

ROOT = Path(__file__).resolve().parents[3]
MANIFESTS = ROOT / "deploy/kubernetes"
# PodDisruptionBudget's unhealthyPodEvictionPolicy is younger than the rest.
OLDEST = (1, 27)
# What the daemon itself may need beside its workers.
DAEMON_BYTES = 512 << 20
# After stop-grace: goodbyes and the end of the workers.
GOODBYE_SECONDS = 10

faults: list[str] = []


def expect(holds: object, fault: str) -> None:
    if not holds:
        faults.append(fault)


class Strict(yaml.SafeLoader):
    """YAML in which a key that is there twice is a fault, as it is for the API server."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        names = [key.value for key, _ in node.value]
        for name in names:
            if names.count(name) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"{name} is there twice", node.start_mark)
        return super().construct_mapping(node, deep)


def documents(name: str) -> list[dict]:
    return [document for document in yaml.load_all((MANIFESTS / name).read_text(), Strict) if document]


def seconds(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(s|m|h|d)", text).groups()
    return int(number) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit]


def size(text: object) -> int:
    """Bytes of the node's 4G, and of Kubernetes' 4Gi."""
    number, unit = re.fullmatch(r"(\d+)([KMGT]?)i?", str(text)).groups()
    return int(number) << {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[unit]


def within(labels: dict, selector: dict) -> bool:
    return bool(selector) and selector.items() <= labels.items()


# MARK: - The schemas


def check_schemas(files: dict[str, list[dict]]) -> list[str]:
    """The versions that were looked at."""
    versions = sorted(
        {utils.major_minor(version) for version in utils.all_versions()},
        key=lambda version: tuple(map(int, version.split("."))))
    versions = [version for version in versions if tuple(map(int, version.split("."))) >= OLDEST]
    for name, objects in files.items():
        for object in objects:
            for version in versions:
                try:
                    kubernetes_validate.validate(object, version, strict=True)
                except kubernetes_validate.ValidationError as error:
                    path = ".".join(map(str, error.path))
                    faults.append(f"{name}: {object['kind']}, Kubernetes {version}: {path}: {error.message[:200]}")
                except kubernetes_validate.SchemaNotFoundError as error:
                    faults.append(f"{name}: {error.message}")
    return versions


# MARK: - What belongs together


def check_kustomization(kustomization: dict, files: set[str], image: str) -> None:
    kind = (kustomization["apiVersion"], kustomization["kind"])
    expect(kind == ("kustomize.config.k8s.io/v1beta1", "Kustomization"), f"kustomization.yaml: is a {kind}")
    allowed = {"apiVersion", "kind", "namespace", "resources", "images"}
    expect(set(kustomization) <= allowed, f"kustomization.yaml: {set(kustomization) - allowed} is not known here")
    listed = kustomization["resources"]
    expect(set(listed) == files, f"kustomization.yaml: lists {listed}, not {sorted(files)}")
    images = [one["name"] for one in kustomization["images"]]
    expect(image in images, f"kustomization.yaml: does not set the image {image}")


def check_labels(objects: dict[str, dict], pod: dict) -> None:
    labels, spec = pod["metadata"]["labels"], pod["spec"]
    stateful, service = objects["StatefulSet"], objects["Service"]
    selectors = {
        "StatefulSet": stateful["spec"]["selector"]["matchLabels"],
        "Service": service["spec"]["selector"],
        "PodDisruptionBudget": objects["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        "NetworkPolicy": objects["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
        "topologySpreadConstraints": spec["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"],
    }
    for name, selector in selectors.items():
        expect(within(labels, selector), f"{name}: selects {selector}, but pods have {labels}")
    peers = [peer["podSelector"]["matchLabels"] for peer in objects["NetworkPolicy"]["spec"]["ingress"][0]["from"]]
    expect(any(within(labels, peer) for peer in peers), "NetworkPolicy: nodes may not talk to nodes")
    expect(stateful["spec"]["serviceName"] == service["metadata"]["name"], "StatefulSet: serviceName is no Service")
    expect(service["spec"]["clusterIP"] == "None", "Service: not headless, its name is not the nodes' addresses")
    expect(service["spec"].get("publishNotReadyAddresses"), "Service: nodes that start are not found")


def check_ports(objects: dict[str, dict], container: dict, configuration: dict) -> None:
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for name, key in (("cluster", "listen"), ("http", "http")):
        host, port = str(configuration[key]).rsplit(":", 1)
        expect(ports.get(name) == int(port), f"{key}: {configuration[key]}, but the port {name} is {ports.get(name)}")
        expect(host in ("0.0.0.0", "[::]"), f"{key}: on {host} nobody outside the pod is heard")
    for port in objects["Service"]["spec"]["ports"]:
        expect(port["targetPort"] in ports, f"Service: there is no port {port['targetPort']}")
        same = port["port"] == ports.get(port["targetPort"])
        expect(same, f"Service: headless, so {port['name']} has to have one number")
    policy = objects["NetworkPolicy"]["spec"]
    for rule in policy["ingress"] + policy["egress"]:
        for port in rule["ports"]:
            expect(port["port"] == 53 or port["port"] in ports, f"NetworkPolicy: there is no port {port['port']}")
    seeds = [f"{objects['Service']['metadata']['name']}:{ports.get('cluster')}"]
    expect(configuration["join"] == seeds, f"join: {configuration['join']}, but the Service is {seeds}")
    expect(configuration.get("no-multicast") is True, "no-multicast: nothing would answer")


def check_probes(container: dict, paths: dict) -> None:
    ports = {port["name"] for port in container["ports"]}
    for probe, wanted in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        ask = container[probe]["httpGet"]
        expect(ask["path"] == wanted, f"{probe}: {ask['path']}, not {wanted}")
        expect(ask["port"] in ports, f"{probe}: there is no port {ask['port']}")
        expect(paths.get(ask["path"], {}).get("get", {}).get("security") == [],
               f"{probe}: {ask['path']} is not in docs/openapi.yaml as one that needs no token")
        expect(container[probe]["timeoutSeconds"] > 5, f"{probe}: gives up before the node does, which takes 5 s")


def check_files(pod: dict, container: dict, objects: dict[str, dict], secrets: list[dict], configuration: dict) -> None:
    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    claims = {claim["metadata"]["name"] for claim in objects["StatefulSet"]["spec"]["volumeClaimTemplates"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    there = claims | set(volumes)
    expect(set(mounts) == there, f"mounted is {sorted(mounts)}, there are {sorted(there)}")
    projected = volumes["configuration"]["projected"]
    folder = mounts["configuration"]["mountPath"]
    # The node takes a secret of root's that a group may read, and none that others may.
    mode = projected["defaultMode"]
    expect(mode & 0o037 == 0, f"configuration: mode {mode:o} is refused for secrets")
    known = {secret["metadata"]["name"]: secret["stringData"] for secret in secrets}
    there = set()
    for source in projected["sources"]:
        if "configMap" in source:
            name = source["configMap"]["name"]
            expect(name == objects["ConfigMap"]["metadata"]["name"], f"there is no ConfigMap {name}")
            there |= {f"{folder}/{name}" for name in objects["ConfigMap"]["data"]}
            continue
        secret = source["secret"]
        expect(secret["name"] in known, f"secrets.example.yaml has no {secret['name']}")
        for item in secret["items"]:
            there_is = item["key"] in known.get(secret["name"], {})
            expect(there_is, f"secrets.example.yaml: {secret['name']} has no {item['key']}")
            there.add(f"{folder}/{item['path']}")
    for key in ("cluster-key", "http-token"):
        expect(configuration[key] in there, f"{key}: {configuration[key]} is not among {sorted(there)}")
    arguments = container["args"]
    expect(arguments[arguments.index("--config") + 1] in there, f"--config: not among {sorted(there)}")
    # With a read-only root these are all that the node can write.
    data = next((name for name in claims if configuration["data"].startswith(mounts[name]["mountPath"] + "/")), None)
    expect(data, f"data: {configuration['data']} is in no volume that stays")
    expect(any(mounts[name]["mountPath"] == "/tmp" for name in volumes), "/tmp: workers' sockets have no place")
    template = objects["StatefulSet"]["spec"]["volumeClaimTemplates"][0]["spec"]
    expect(size(configuration["data-limit"]) <= 0.95 * size(template["resources"]["requests"]["storage"]),
           f"data-limit: {configuration['data-limit']} is more than the volume has")


def check_limits(pod: dict, container: dict, configuration: dict) -> None:
    needed = configuration["slots"] * size(configuration["worker-memory"]) + DAEMON_BYTES
    limit = size(container["resources"]["limits"]["memory"])
    expect(needed <= limit, f"memory: workers and node may take {needed >> 20}Mi, the container {limit >> 20}Mi")
    expect(pod["terminationGracePeriodSeconds"] >= seconds(configuration["stop-grace"]) + GOODBYE_SECONDS,
           f"terminationGracePeriodSeconds: too short for stop-grace: {configuration['stop-grace']}")


def check_security(pod: dict, container: dict, containerfile: str) -> None:
    """What the profile `restricted` of Pod Security asks for, and more."""
    context, own = pod["securityContext"], container["securityContext"]
    user = int(re.search(r"^USER (\d+):(\d+)$", containerfile, re.M)[1])
    for key in ("runAsUser", "runAsGroup", "fsGroup"):
        expect(context[key] == user, f"{key}: {context[key]}, but the image's user is {user}")
    expect(context["runAsNonRoot"] is True, "runAsNonRoot is not set")
    expect(context["seccompProfile"] == {"type": "RuntimeDefault"}, "seccompProfile is not RuntimeDefault")
    expect(own["allowPrivilegeEscalation"] is False, "allowPrivilegeEscalation is not forbidden")
    expect(own["readOnlyRootFilesystem"] is True, "the root is not read-only")
    expect(own["capabilities"] == {"drop": ["ALL"]}, "not all capabilities are dropped")
    expect(pod["automountServiceAccountToken"] is False, "the pod gets a token of the API server for nothing")
    expect(pod["enableServiceLinks"] is False, "variables as SKYNODE_PORT would keep the node from starting")


# MARK: - What the program says


def run(program: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in (program, *words)], capture_output=True, text=True, timeout=60,
                          env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}, check=False)


def check_program(program: Path, container: dict, text: str, configuration: dict) -> None:
    table = run(program, "serve", "--list-keys").stdout
    keys = set(re.findall(r"^\| `([a-z-]+)` \|", table, re.M))
    expect(len(keys) > 10, f"{program} serve --list-keys lists nothing")
    expect(set(configuration) <= keys, f"there are no keys {sorted(set(configuration) - keys)}")
    for variable in container.get("env", []):
        name = variable["name"]
        known = {"SKYNODE_CONFIG"} | {"SKYNODE_" + key.upper().replace("-", "_") for key in keys}
        expect(not name.startswith("SKYNODE_") or name in known, f"there is no variable {name}")
    command, *flags = container["args"]
    expect(command == "serve", f"args: {command}, not serve")
    for flag in (word.removeprefix("--") for word in flags if word.startswith("--")):
        expect(flag in keys | {"config"}, f"there is no option --{flag} of serve")
    with tempfile.TemporaryDirectory() as folder:
        file, key, token = Path(folder, "skynode.yaml"), Path(folder, "cluster.key"), Path(folder, "token")
        file.write_text(text)
        run(program, "key", "new", "--output", key)
        token.touch(mode=0o600)
        token.write_text("0123456789abcdef")
        # All as in the pod, but for the two files, which are not here.
        words = ("serve", "--config", file, "--check-config", "--cluster-key", key, "--http-token", token)
        done = run(program, *words)
        expect(done.returncode == 0, f"skynode.yaml: {done.stderr.strip()}")
        # A check that takes everything would say the same.
        file.write_text(text + "\nno-such-key: 1\n")
        expect(run(program, *words).returncode == 2, "--check-config takes a key that there is not")


def main() -> None:
    program = Path(sys.argv[1]).resolve()
    names = {path.name for path in MANIFESTS.glob("*.yaml")} - {"kustomization.yaml"}
    files = {name: documents(name) for name in sorted(names)}
    versions = check_schemas(files)
    applied = [object for name in files if name != "secrets.example.yaml" for object in files[name]]
    objects = {object["kind"]: object for object in applied}
    expect(len(objects) == len(applied), "two objects of one kind, of which only the last is looked at")
    pod = objects["StatefulSet"]["spec"]["template"]
    spec = pod["spec"]
    [container] = spec["containers"]
    text = objects["ConfigMap"]["data"]["skynode.yaml"]
    configuration = yaml.load(text, Strict)
    [kustomization] = documents("kustomization.yaml")
    check_kustomization(kustomization, names - {"secrets.example.yaml"}, container["image"])
    check_labels(objects, pod)
    check_ports(objects, container, configuration)
    check_probes(container, yaml.safe_load((ROOT / "docs/openapi.yaml").read_text())["paths"])
    check_files(spec, container, objects, files["secrets.example.yaml"], configuration)
    check_limits(spec, container, configuration)
    check_security(spec, container, (ROOT / "deploy/container/Containerfile").read_text())
    check_program(program, container, text, configuration)
    for fault in faults:
        print(f"kubernetes: {fault}", file=sys.stderr)
    if faults:
        raise SystemExit(1)
    count = sum(len(objects) for objects in files.values())
    print(f"kubernetes: {count} objects are in order, for Kubernetes {versions[0]} to {versions[-1]}")


try:
    main()
except (KeyError, ValueError, TypeError, AttributeError, StopIteration, yaml.YAMLError) as error:
    for fault in faults:
        print(f"kubernetes: {fault}", file=sys.stderr)
    raise SystemExit(f"kubernetes: cannot be looked at: {type(error).__name__}: {error}") from error
