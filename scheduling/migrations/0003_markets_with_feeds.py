from django.db import migrations

# The coupled European day-ahead auction delivers days of Central European time, in every country.
CENTRAL = "Europe/Berlin"
EUROPE = {  # name, zone of Energy-Charts, EIC of ENTSO-E
    "at": ("Austria", "AT", "10YAT-APG------L"),
    "be": ("Belgium", "BE", "10YBE----------2"),
    "ch": ("Switzerland", "CH", "10YCH-SWISSGRIDZ"),
    "cz": ("Czechia", "CZ", "10YCZ-CEPS-----N"),
    "de-lu": ("Germany and Luxembourg", "DE-LU", "10Y1001A1001A82H"),
    "dk1": ("Denmark west", "DK1", "10YDK-1--------W"),
    "dk2": ("Denmark east", "DK2", "10YDK-2--------M"),
    "ee": ("Estonia", "EE", "10Y1001A1001A39I"),
    "es": ("Spain", "ES", "10YES-REE------0"),
    "fi": ("Finland", "FI", "10YFI-1--------U"),
    "fr": ("France", "FR", "10YFR-RTE------C"),
    "hu": ("Hungary", "HU", "10YHU-MAVIR----U"),
    "it-north": ("Italy north", "IT-North", "10Y1001A1001A73I"),
    "nl": ("Netherlands", "NL", "10YNL----------L"),
    "no2": ("Norway south-west", "NO2", "10YNO-2--------T"),
    "pl": ("Poland", "PL", "10YPL-AREA-----S"),
    "se1": ("Sweden, Luleå", "SE1", "10Y1001A1001A44P"),
    "se2": ("Sweden, Sundsvall", "SE2", "10Y1001A1001A45N"),
    "se3": ("Sweden, Stockholm", "SE3", "10Y1001A1001A46L"),
    "se4": ("Sweden, Malmö", "SE4", "10Y1001A1001A47J"),
}
AWATTAR = {"at": "at", "de-lu": "de"}
AGILE = "AGILE-24-10-01"


def create(apps, schema_editor):
    """Markets to choose from; a feed is asked only once an account has chosen its market."""
    Market, Feed = (apps.get_model("scheduling", name) for name in ("Market", "Feed"))
    for slug, (name, zone, eic) in EUROPE.items():
        market = Market.objects.create(slug=slug, name=name, currency="EUR", timezone=CENTRAL)
        feeds = [("energy_charts", {"bzn": zone}), ("entsoe", {"eic": eic})]
        feeds += [("awattar", {"country": AWATTAR[slug]})] if slug in AWATTAR else []
        for position, (source, options) in enumerate(feeds):
            Feed.objects.create(market=market, position=position, source=source, options=options)
    agile = Market.objects.create(
        slug="gb-agile-london", name="Great Britain, Octopus Agile, London", currency="GBP", timezone="Europe/Paris"
    )
    options = {"product": AGILE, "tariff": f"E-1R-{AGILE}-C"}
    Feed.objects.create(market=agile, source="octopus", options=options)
    comed = Market.objects.create(
        slug="comed",
        name="Northern Illinois, ComEd hourly pricing",
        currency="USD",
        timezone="America/Chicago",
        after_the_fact=True,
    )
    Feed.objects.create(market=comed, source="comed")


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0002_default_market")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
